#include "torch/nn/modules/conv.h"

#include <cmath>

#include "torch/nn/functional/conv.h"
#include "torch/nn/init.h"

namespace torch::nn {

namespace functional {

#define HOTARU_TORCH_CONVOLUTION(D) \
  Tensor conv##D##d(const Tensor& input, const Tensor& weight, \
                    const Conv##D##dFuncOptions& options) { \
    const auto call = [&](auto padding) { \
      return torch::conv##D##d(input, weight, options.bias(), \
                               options.stride(), padding, options.dilation(), \
                               options.groups()); \
    }; \
    if (const auto* given = \
            std::get_if<ExpandingArray<D>>(&options.padding())) \
      return call(at::IntArrayRef(*given)); \
    return call(std::string_view( \
        is_chosen<enumtype::kSame>(options.padding()) ? "same" : "valid")); \
  } \
  Tensor conv_transpose##D##d(const Tensor& input, const Tensor& weight, \
                              const ConvTranspose##D##dFuncOptions& options) { \
    return torch::conv_transpose##D##d( \
        input, weight, options.bias(), options.stride(), options.padding(), \
        options.output_padding(), options.groups(), options.dilation()); \
  }
HOTARU_TORCH_CONVOLUTION(1)
HOTARU_TORCH_CONVOLUTION(2)
HOTARU_TORCH_CONVOLUTION(3)
#undef HOTARU_TORCH_CONVOLUTION

}  // namespace functional

namespace {

template <size_t D>
std::vector<int64_t> joined(std::initializer_list<int64_t> front,
                            const ExpandingArray<D>& rest) {
  std::vector<int64_t> out(front);
  out.insert(out.end(), rest->begin(), rest->end());
  return out;
}

void reset_layer(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5));
  if (!bias.defined()) return;
  const auto [in, out] = init::_calculate_fan_in_and_fan_out(weight);
  const double bound = 1 / std::sqrt(double(in));
  init::uniform_(bias, -bound, bound);
}

/// Makes the parameters of a layer whose weight is rows x columns / groups x
/// kernel, with a bias or without.
template <class Layer>
void make_parameters(Layer& self, int64_t rows, int64_t columns) {
  const auto& o = self.options;
  self.weight = self.register_parameter(
      "weight",
      torch::empty(joined({rows, columns / o.groups()}, o.kernel_size())));
  self.bias = self.register_parameter(
      "bias", o.bias() ? torch::empty(o.out_channels()) : Tensor(), o.bias());
  self.reset_parameters();
}

void check_channels(int64_t in, int64_t out, int64_t groups) {
  TORCH_CHECK(in > 0 && out > 0 && groups > 0,
              "in_channels, groups and out_channels must be a positive "
              "integer.");
  TORCH_CHECK(in % groups == 0, "in_channels must be divisible by groups");
  TORCH_CHECK(out % groups == 0, "out_channels must be divisible by groups");
}

/// Sizes before and after each dimension, the last one first.
template <size_t D>
std::vector<int64_t> pads(const ConvOptions<D>& options) {
  std::vector<int64_t> out;
  for (size_t d = D; d-- > 0;) {
    if (const auto* given =
            std::get_if<ExpandingArray<D>>(&options.padding())) {
      out.insert(out.end(), 2, (**given)[d]);
    } else if (is_chosen<enumtype::kSame>(options.padding())) {
      const int64_t total =
          (*options.dilation())[d] * ((*options.kernel_size())[d] - 1);
      out.push_back(total / 2);
      out.push_back(total - total / 2);
    } else {
      out.insert(out.end(), 2, 0);
    }
  }
  return out;
}

/// The layer's convolution of a picture that is padded already, or is not.
template <size_t D>
Tensor convolve(const Tensor& input, const Tensor& weight, const Tensor& bias,
                const ConvOptions<D>& options, bool padded) {
  functional::ConvFuncOptions<D> given;
  given.bias(bias)
      .stride(options.stride())
      .dilation(options.dilation())
      .groups(options.groups());
  if (!padded) given.padding(options.padding());
  if constexpr (D == 1) return functional::conv1d(input, weight, given);
  if constexpr (D == 2) return functional::conv2d(input, weight, given);
  if constexpr (D == 3) return functional::conv3d(input, weight, given);
}

const char* pad_mode(const detail::conv_padding_mode_t& mode) {
  if (is_chosen<enumtype::kReflect>(mode)) return "reflect";
  if (is_chosen<enumtype::kReplicate>(mode)) return "replicate";
  return "circular";
}

template <class Options>
void print_rest(std::ostream& out, const Options& options) {
  const auto all = [](const auto& array, int64_t value) {
    return std::all_of(array->begin(), array->end(),
                       [&](int64_t v) { return v == value; });
  };
  if (!all(options.dilation(), 1)) out << ", dilation=" << options.dilation();
  if (options.groups() != 1) out << ", groups=" << options.groups();
  if (!options.bias()) out << ", bias=" << std::boolalpha << false;
  if (!is_chosen<enumtype::kZeros>(options.padding_mode()))
    out << ", padding_mode=" << enumtype::get_enum_name(options.padding_mode());
  out << ")";
}

template <class Array>
bool any_nonzero(const Array& array) {
  return std::any_of(array->begin(), array->end(),
                     [](int64_t v) { return v != 0; });
}

}  // namespace

template <size_t D, class Derived>
ConvImpl<D, Derived>::ConvImpl(ConvOptions<D> given)
    : options(std::move(given)) {
  ConvImpl::reset();
}
template <size_t D, class Derived>
void ConvImpl<D, Derived>::reset() {
  check_channels(options.in_channels(), options.out_channels(),
                 options.groups());
  if (is_chosen<enumtype::kSame>(options.padding()))
    for (const int64_t stride : *options.stride())
      TORCH_CHECK(stride == 1,
                  "padding='same' is not supported for strided convolutions");
  make_parameters(*this, options.out_channels(), options.in_channels());
}
template <size_t D, class Derived>
void ConvImpl<D, Derived>::reset_parameters() {
  reset_layer(weight, bias);
}
template <size_t D, class Derived>
void ConvImpl<D, Derived>::pretty_print(std::ostream& out) const {
  out << "torch::nn::Conv" << D << "d(" << options.in_channels() << ", "
      << options.out_channels() << ", kernel_size=" << options.kernel_size()
      << ", stride=" << options.stride();
  if (const auto* given = std::get_if<ExpandingArray<D>>(&options.padding())) {
    if (any_nonzero(*given)) out << ", padding=" << *given;
  } else {
    out << ", padding="
        << (is_chosen<enumtype::kSame>(options.padding()) ? "'same'"
                                                          : "'valid'");
  }
  print_rest(out, options);
}
template <size_t D, class Derived>
Tensor ConvImpl<D, Derived>::forward(const Tensor& input) {
  if (is_chosen<enumtype::kZeros>(options.padding_mode()))
    return convolve<D>(input, weight, bias, options, false);
  return convolve<D>(
      at::pad(input, pads<D>(options), pad_mode(options.padding_mode())),
      weight, bias, options, true);
}

template <size_t D, class Derived>
ConvTransposeImpl<D, Derived>::ConvTransposeImpl(ConvTransposeOptions<D> given)
    : options(std::move(given)) {
  ConvTransposeImpl::reset();
}
template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::reset() {
  check_channels(options.in_channels(), options.out_channels(),
                 options.groups());
  make_parameters(*this, options.in_channels(), options.out_channels());
}
template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::reset_parameters() {
  reset_layer(weight, bias);
}
template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::pretty_print(std::ostream& out) const {
  out << "torch::nn::ConvTranspose" << D << "d(" << options.in_channels()
      << ", " << options.out_channels()
      << ", kernel_size=" << options.kernel_size()
      << ", stride=" << options.stride();
  if (any_nonzero(options.padding())) out << ", padding=" << options.padding();
  if (any_nonzero(options.output_padding()))
    out << ", output_padding=" << options.output_padding();
  print_rest(out, options);
}

template <size_t D, class Derived>
Tensor ConvTransposeImpl<D, Derived>::forward(
    const Tensor& input, const std::optional<at::IntArrayRef>& output_size) {
  TORCH_CHECK(is_chosen<enumtype::kZeros>(options.padding_mode()),
              "Only \"zeros\" padding mode is supported for ConvTranspose", D,
              "d");
  std::vector<int64_t> extra(options.output_padding()->begin(),
                             options.output_padding()->end());
  if (output_size) {
    const auto wanted =
        output_size->size() == D + 2 ? output_size->slice(2) : *output_size;
    TORCH_CHECK(wanted.size() == D, "output_size must have ", D, " or ", D + 2,
                " elements (got ", output_size->size(), ")");
    for (size_t d = 0; d < D; ++d) {
      const int64_t least =
          (input.size(int64_t(d) + 2) - 1) * (*options.stride())[d] -
          2 * (*options.padding())[d] + (*options.kernel_size())[d];
      const int64_t most = least + (*options.stride())[d] - 1;
      TORCH_CHECK(wanted[d] >= least && wanted[d] <= most,
                  "requested an output size of ", wanted,
                  ", but valid sizes "
                  "range from ",
                  least, " to ", most, " in dimension ", d);
      extra[d] = wanted[d] - least;
    }
  }
  functional::ConvTransposeFuncOptions<D> given;
  given.bias(bias)
      .stride(options.stride())
      .padding(options.padding())
      .output_padding(extra)
      .groups(options.groups())
      .dilation(options.dilation());
  if constexpr (D == 1)
    return functional::conv_transpose1d(input, weight, given);
  if constexpr (D == 2)
    return functional::conv_transpose2d(input, weight, given);
  if constexpr (D == 3)
    return functional::conv_transpose3d(input, weight, given);
}

#define HOTARU_TORCH_CONVOLUTION(D) \
  template class ConvImpl<D, Conv##D##dImpl>; \
  template class ConvTransposeImpl<D, ConvTranspose##D##dImpl>;
HOTARU_TORCH_CONVOLUTION(1)
HOTARU_TORCH_CONVOLUTION(2)
HOTARU_TORCH_CONVOLUTION(3)
#undef HOTARU_TORCH_CONVOLUTION

}  // namespace torch::nn
