#include "torch/nn/modules/pooling.h"

#include "c10/util/accumulate.h"
#include "source/nn/printed.h"
#include "torch/nn/functional/pooling.h"

namespace torch::nn {

namespace functional {

Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options) {
  return torch::avg_pool1d(input, options.kernel_size(), options.stride(),
                           options.padding(), options.ceil_mode(),
                           options.count_include_pad());
}
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return torch::avg_pool2d(input, options.kernel_size(), options.stride(),
                           options.padding(), options.ceil_mode(),
                           options.count_include_pad(),
                           options.divisor_override());
}
Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options) {
  return torch::avg_pool3d(input, options.kernel_size(), options.stride(),
                           options.padding(), options.ceil_mode(),
                           options.count_include_pad(),
                           options.divisor_override());
}

#define HOTARU_TORCH_POOL(D) \
  Tensor max_pool##D##d(const Tensor& input, \
                        const MaxPool##D##dFuncOptions& options) { \
    return torch::max_pool##D##d(input, options.kernel_size(), \
                                 options.stride(), options.padding(), \
                                 options.dilation(), options.ceil_mode()); \
  } \
  std::tuple<Tensor, Tensor> max_pool##D##d_with_indices( \
      const Tensor& input, const MaxPool##D##dFuncOptions& options) { \
    return torch::max_pool##D##d_with_indices( \
        input, options.kernel_size(), options.stride(), options.padding(), \
        options.dilation(), options.ceil_mode()); \
  }
HOTARU_TORCH_POOL(1)
HOTARU_TORCH_POOL(2)
HOTARU_TORCH_POOL(3)
#undef HOTARU_TORCH_POOL

namespace {

std::vector<int64_t> sizes(const ExpandingArray<1>& wanted, const Tensor&) {
  return {wanted->begin(), wanted->end()};
}
/// Sizes that are wanted; what is missing is the input's.
template <size_t D>
std::vector<int64_t> sizes(const ExpandingArrayWithOptionalElem<D>& wanted,
                           const Tensor& input) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < D; ++d)
    out.push_back((*wanted)[d].value_or(input.size(int64_t(d) - int64_t(D))));
  return out;
}

}  // namespace

#define HOTARU_TORCH_POOL(D) \
  Tensor adaptive_avg_pool##D##d( \
      const Tensor& input, const AdaptiveAvgPool##D##dFuncOptions& options) { \
    return torch::adaptive_avg_pool##D##d( \
        input, sizes(options.output_size(), input)); \
  } \
  Tensor adaptive_max_pool##D##d( \
      const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options) { \
    return std::get<0>(adaptive_max_pool##D##d_with_indices(input, options)); \
  } \
  std::tuple<Tensor, Tensor> adaptive_max_pool##D##d_with_indices( \
      const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options) { \
    return torch::adaptive_max_pool##D##d( \
        input, sizes(options.output_size(), input)); \
  }
HOTARU_TORCH_POOL(1)
HOTARU_TORCH_POOL(2)
HOTARU_TORCH_POOL(3)
#undef HOTARU_TORCH_POOL

// (sum of x^p over the window)^(1/p), from the window's mean.
#define HOTARU_TORCH_POOL(D) \
  Tensor lp_pool##D##d(const Tensor& input, \
                       const LPPool##D##dFuncOptions& options) { \
    const double p = options.norm_type(); \
    const Tensor mean = \
        torch::avg_pool##D##d(input.pow(p), options.kernel_size(), \
                              options.stride(), 0, options.ceil_mode()); \
    const int64_t elements = c10::multiply_integers(*options.kernel_size()); \
    return (mean.sign() * mean.abs().relu()).mul(elements).pow(1.0 / p); \
  }
HOTARU_TORCH_POOL(1)
HOTARU_TORCH_POOL(2)
HOTARU_TORCH_POOL(3)
#undef HOTARU_TORCH_POOL

}  // namespace functional

namespace {

template <class Options>
void print_windows(std::ostream& out, const char* name,
                   const Options& options) {
  Printed(out, name)
      .with("kernel_size", options.kernel_size())
      .with("stride", options.stride())
      .with("padding", options.padding());
}

}  // namespace

#define HOTARU_TORCH_POOL(D) \
  Tensor AvgPool##D##dImpl::forward(const Tensor& input) { \
    return functional::avg_pool##D##d(input, options); \
  } \
  void AvgPool##D##dImpl::pretty_print(std::ostream& out) const { \
    print_windows(out, "AvgPool" #D "d", options); \
  } \
  Tensor MaxPool##D##dImpl::forward(const Tensor& input) { \
    return functional::max_pool##D##d(input, options); \
  } \
  std::tuple<Tensor, Tensor> MaxPool##D##dImpl::forward_with_indices( \
      const Tensor& input) { \
    return functional::max_pool##D##d_with_indices(input, options); \
  } \
  void MaxPool##D##dImpl::pretty_print(std::ostream& out) const { \
    Printed(out, "MaxPool" #D "d") \
        .with("kernel_size", options.kernel_size()) \
        .with("stride", options.stride()) \
        .with("padding", options.padding()) \
        .with("dilation", options.dilation()) \
        .with("ceil_mode", options.ceil_mode()); \
  } \
  Tensor AdaptiveAvgPool##D##dImpl::forward(const Tensor& input) { \
    return functional::adaptive_avg_pool##D##d(input, options); \
  } \
  void AdaptiveAvgPool##D##dImpl::pretty_print(std::ostream& out) const { \
    Printed(out, "AdaptiveAvgPool" #D "d") \
        .with("output_size", options.output_size()); \
  } \
  Tensor AdaptiveMaxPool##D##dImpl::forward(const Tensor& input) { \
    return functional::adaptive_max_pool##D##d(input, options); \
  } \
  std::tuple<Tensor, Tensor> AdaptiveMaxPool##D##dImpl::forward_with_indices( \
      const Tensor& input) { \
    return functional::adaptive_max_pool##D##d_with_indices(input, options); \
  } \
  void AdaptiveMaxPool##D##dImpl::pretty_print(std::ostream& out) const { \
    Printed(out, "AdaptiveMaxPool" #D "d") \
        .with("output_size", options.output_size()); \
  }
HOTARU_TORCH_POOL(1)
HOTARU_TORCH_POOL(2)
HOTARU_TORCH_POOL(3)
#undef HOTARU_TORCH_POOL

#define HOTARU_TORCH_POOL(D) \
  Tensor LPPool##D##dImpl::forward(const Tensor& input) { \
    return functional::lp_pool##D##d(input, options); \
  } \
  void LPPool##D##dImpl::pretty_print(std::ostream& out) const { \
    Printed(out, "LPPool" #D "d") \
        .with("norm_type", options.norm_type()) \
        .with("kernel_size", options.kernel_size()) \
        .with("stride", options.stride()) \
        .with("ceil_mode", options.ceil_mode()); \
  }
HOTARU_TORCH_POOL(1)
HOTARU_TORCH_POOL(2)
HOTARU_TORCH_POOL(3)
#undef HOTARU_TORCH_POOL

}  // namespace torch::nn
