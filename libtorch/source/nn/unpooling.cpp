#include "torch/nn/modules/unpooling.h"

#include "source/nn/printed.h"
#include "torch/nn/functional/pooling.h"

namespace torch::nn {

namespace functional {

namespace {

/// The size given, checked, or the one that pooling without remainders had.
template <size_t D>
std::vector<int64_t> unpooled_size(const Tensor& input,
                                   const MaxUnpoolFuncOptions<D>& options) {
  const int64_t first = input.dim() - int64_t(D);
  std::vector<int64_t> natural;
  for (size_t d = 0; d < D; ++d)
    natural.push_back(
        (input.size(first + int64_t(d)) - 1) * (*options.stride())[d] +
        (*options.kernel_size())[d] - 2 * (*options.padding())[d]);
  if (!options.output_size()) return natural;
  std::vector<int64_t> wanted = *options.output_size();
  if (int64_t(wanted.size()) == input.dim() && wanted.size() > D)
    wanted.erase(wanted.begin(), wanted.end() - int64_t(D));
  TORCH_CHECK(wanted.size() == D,
              "output_size should be a sequence containing ", D, " or ", D + 2,
              " elements, but it has a length of '",
              options.output_size()->size(), "'");
  for (size_t d = 0; d < D; ++d) {
    const int64_t stride = (*options.stride())[d];
    TORCH_CHECK(
        wanted[d] > natural[d] - stride && wanted[d] < natural[d] + stride,
        "invalid output_size ", at::IntArrayRef(wanted), " (dim ", d,
        " must be between ", natural[d] - stride, " and ", natural[d] + stride,
        ")");
  }
  return wanted;
}

template <size_t D>
std::tuple<Tensor, Tensor> fractional(
    const Tensor& input, const FractionalMaxPoolOptions<D>& options) {
  TORCH_CHECK(options.output_size() || options.output_ratio(),
              "fractional_max_pool", D,
              "d requires specifying either an output_size or an "
              "output_ratio");
  const int64_t first = input.dim() - int64_t(D);
  std::vector<int64_t> size;
  for (size_t d = 0; d < D; ++d)
    size.push_back(options.output_size()
                       ? (**options.output_size())[d]
                       : int64_t(double(input.size(first + int64_t(d))) *
                                 (**options.output_ratio())[d]));
  Tensor samples = options._random_samples();
  if (!samples.defined()) {
    const bool batched = input.dim() == int64_t(D) + 2;
    samples = torch::rand(
        {batched ? input.size(0) : 1, input.size(first - 1), int64_t(D)},
        input.options());
  }
  if constexpr (D == 2)
    return torch::fractional_max_pool2d(input, options.kernel_size(), size,
                                        samples);
  else
    return torch::fractional_max_pool3d(input, options.kernel_size(), size,
                                        samples);
}

}  // namespace

Tensor max_unpool1d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool1dFuncOptions& options) {
  std::vector<int64_t> size = unpooled_size(input, options);
  size.push_back(1);
  return torch::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size)
      .squeeze(-1);
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool2dFuncOptions& options) {
  return torch::max_unpool2d(input, indices, unpooled_size(input, options));
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices,
                    const MaxUnpool3dFuncOptions& options) {
  return torch::max_unpool3d(input, indices, unpooled_size(input, options),
                             options.stride(), options.padding());
}

#define HOTARU_TORCH_FRACTIONAL(D) \
  Tensor fractional_max_pool##D##d( \
      const Tensor& input, \
      const FractionalMaxPool##D##dFuncOptions& options) { \
    return std::get<0>(fractional(input, options)); \
  } \
  std::tuple<Tensor, Tensor> fractional_max_pool##D##d_with_indices( \
      const Tensor& input, \
      const FractionalMaxPool##D##dFuncOptions& options) { \
    return fractional(input, options); \
  }
HOTARU_TORCH_FRACTIONAL(2)
HOTARU_TORCH_FRACTIONAL(3)
#undef HOTARU_TORCH_FRACTIONAL

}  // namespace functional

#define HOTARU_TORCH_UNPOOL(D) \
  Tensor MaxUnpool##D##dImpl::forward( \
      const Tensor& input, const Tensor& indices, \
      const std::optional<std::vector<int64_t>>& output_size) { \
    return functional::max_unpool##D##d( \
        input, indices, \
        functional::MaxUnpool##D##dFuncOptions(options.kernel_size()) \
            .stride(options.stride()) \
            .padding(options.padding()) \
            .output_size(output_size)); \
  } \
  void MaxUnpool##D##dImpl::pretty_print(std::ostream& out) const { \
    Printed(out, "MaxUnpool" #D "d") \
        .with("kernel_size", options.kernel_size()) \
        .with("stride", options.stride()) \
        .with("padding", options.padding()); \
  }
HOTARU_TORCH_UNPOOL(1)
HOTARU_TORCH_UNPOOL(2)
HOTARU_TORCH_UNPOOL(3)
#undef HOTARU_TORCH_UNPOOL

#define HOTARU_TORCH_FRACTIONAL(D) \
  FractionalMaxPool##D##dImpl::FractionalMaxPool##D##dImpl( \
      FractionalMaxPool##D##dOptions given) \
      : WithOptions(std::move(given)) { \
    TORCH_CHECK(options.output_size() || options.output_ratio(), \
                "FractionalMaxPool" #D \
                "d requires specifying either an " \
                "output size, or a pooling ratio"); \
    TORCH_CHECK(!options.output_size() || !options.output_ratio(), \
                "only one of output_size and output_ratio may be specified"); \
    if (options.output_ratio()) \
      for (const double ratio : **options.output_ratio()) \
        TORCH_CHECK(ratio > 0 && ratio < 1, \
                    "output_ratio must be between 0 and 1 (got ", \
                    at::ArrayRef<double>(**options.output_ratio()), ")"); \
  } \
  Tensor FractionalMaxPool##D##dImpl::forward(const Tensor& input) { \
    return functional::fractional_max_pool##D##d(input, options); \
  } \
  std::tuple<Tensor, Tensor> \
      FractionalMaxPool##D##dImpl::forward_with_indices(const Tensor& input) { \
    return functional::fractional_max_pool##D##d_with_indices(input, options); \
  } \
  void FractionalMaxPool##D##dImpl::pretty_print(std::ostream& out) const { \
    out << "torch::nn::FractionalMaxPool" #D "d()"; \
  }
HOTARU_TORCH_FRACTIONAL(2)
HOTARU_TORCH_FRACTIONAL(3)
#undef HOTARU_TORCH_FRACTIONAL

}  // namespace torch::nn
