// The gradients of convolutions as operators of their own.
#include <array>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/conv/conv.h"
#include "hotaru/ops/conv/conv_grad.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

constexpr const char* kConvBackwardNode = "ConvolutionBackwardBackward0";

using Three = std::tuple<Tensor, Tensor, Tensor>;

std::array<bool, 3> mask_of(const Value& mask) {
  const auto& items =
      mask.is_tuple() ? mask.as_tuple().items : mask.as_list().items;
  HOTARU_CHECK(items.size() == 3,
               "expected output_mask to have 3 values, but got ", items.size());
  std::array<bool, 3> out;
  for (size_t i = 0; i < 3; ++i)
    out[i] = items[i].is_bool() ? items[i].as_bool() : items[i].as_int() != 0;
  return out;
}

void check_size(const Tensor& g, IntSpan size) {
  HOTARU_CHECK(Dims(g.sizes()) == Dims(size), "Expected grad_output of size ",
               shape_text(size), ", but got ", shape_text(g.sizes()));
}

/// Nothing is conjugated of complex operands: callers hand in conjugates.
Three gradients(const Tensor& g, const Tensor& input, const Tensor& weight,
                const ConvPlan& plan, bool transposed,
                const std::array<bool, 3>& wanted) {
  const auto& [size, a] = plan;
  check_size(g, size);
  Three out;
  if (wanted[0])
    std::get<0>(out) = (transposed ? conv_forward : conv_data)(
        kConvBackwardNode, g, weight, {}, input.sizes(), a);
  if (wanted[1])
    std::get<1>(out) =
        transposed
            ? conv_weight(kConvBackwardNode, input, g, weight.sizes(), a)
            : conv_weight(kConvBackwardNode, g, input, weight.sizes(), a);
  if (wanted[2]) std::get<2>(out) = bias_gradient(g);
  return out;
}

/// The gradients of input, weight and bias; those that output_mask leaves out
/// are undefined.
Three convolution_backward(const Tensor& grad_output, const Tensor& input,
                           const Tensor& weight, const Optional<IntSpan>&,
                           IntSpan stride, IntSpan padding, IntSpan dilation,
                           bool transposed, IntSpan output_padding,
                           int64_t groups, const Value& output_mask) {
  return gradients(
      grad_output, input, weight,
      plan_convolution(input, weight, {}, stride, padding, dilation, transposed,
                       output_padding, groups),
      transposed, mask_of(output_mask));
}

/// From ggI, ggW and ggb, the gradients (or undefined) of what
/// convolution_backward gave for gO: those of gO, weight's and self's, where
/// the mask asks for them.
Three convolution_double_backward(const Tensor& ggI, const Tensor& ggW,
                                  const Tensor& ggb, const Tensor& gO,
                                  const Tensor& weight, const Tensor& self,
                                  IntSpan stride, IntSpan padding,
                                  IntSpan dilation, bool transposed,
                                  IntSpan output_padding, int64_t groups,
                                  const Value& output_mask) {
  const auto wanted = mask_of(output_mask);
  const auto forward = [&](const Tensor& x, const Tensor& w, const Tensor& b) {
    return convolution(x, w, b, stride, padding, dilation, transposed,
                       output_padding, groups);
  };
  const auto backward = [&](const Tensor& x, const Tensor& w, bool of_x) {
    const Three out =
        gradients(gO, x, w,
                  plan_convolution(x, w, {}, stride, padding, dilation,
                                   transposed, output_padding, groups),
                  transposed, {of_x, !of_x, false});
    return of_x ? std::get<0>(out) : std::get<1>(out);
  };
  const auto plus = [](const Tensor& a, const Tensor& b) {
    return a.defined() ? add(a, b) : b;
  };
  Three out;
  if (wanted[0]) {
    Tensor& ggO = std::get<0>(out);
    if (ggI.defined()) ggO = forward(ggI, weight, {});
    if (ggW.defined()) ggO = plus(ggO, forward(self, ggW, {}));
    if (ggb.defined()) {
      Dims shape(size_t(gO.dim()), 1);
      shape[1] = ggb.numel();
      const Tensor channels = reshape(ggb, shape);
      ggO = ggO.defined() ? add(ggO, channels) : expand(channels, gO.sizes());
    }
  }
  if (wanted[1] && ggW.defined()) std::get<1>(out) = backward(self, ggW, true);
  if (wanted[2] && ggI.defined())
    std::get<2>(out) = backward(ggI, weight, false);
  return out;
}

HOTARU_OP(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, "
    "int[]? bias_sizes, int[] stride, int[] padding, int[] dilation, bool "
    "transposed, int[] output_padding, int groups, bool[3] output_mask) -> "
    "(Tensor, Tensor, Tensor)",
    convolution_backward);
HOTARU_OP(
    "_convolution_double_backward(Tensor? ggI, Tensor? ggW, Tensor? ggb, "
    "Tensor gO, Tensor weight, Tensor self, int[] stride, int[] padding, int[] "
    "dilation, bool transposed, int[] output_padding, int groups, bool[3] "
    "output_mask) -> (Tensor, Tensor, Tensor)",
    convolution_double_backward);

}  // namespace
}  // namespace hotaru
