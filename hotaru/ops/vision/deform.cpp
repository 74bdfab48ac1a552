// Convolution at places that the data choose: torchvision::deform_conv2d, as
// a product of the weight and the samples of each picture.
#include "hotaru/backend/common/vision/deform.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/vision/regions.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;

struct Deform : DeformAttributes {
  int64_t weight_groups;
  bool masked;
};

void check(const Tensor& input, const Tensor& weight, const Tensor& offset,
           const Tensor& mask, const Tensor& bias, const Deform& d) {
  HOTARU_CHECK(input.dim() == 4 && weight.dim() == 4 && offset.dim() == 4,
               "deform_conv2d: expected 4-D input, weight and offset, got ",
               input.dim(), "-D, ", weight.dim(), "-D and ", offset.dim(),
               "-D");
  check_floating("deformable_im2col", input);
  HOTARU_CHECK(input.dtype() == weight.dtype() &&
                   input.dtype() == offset.dtype() &&
                   (!d.masked || input.dtype() == mask.dtype()) &&
                   input.dtype() == bias.dtype(),
               "deform_conv2d: expected input, weight, offset, mask and bias "
               "of one dtype");
  for (size_t k = 0; k < 2; ++k) {
    HOTARU_CHECK(d.kernel[k] > 0 && d.stride[k] > 0 && d.padding[k] >= 0 &&
                     d.dilation[k] > 0,
                 "deform_conv2d: kernel, stride and dilation must be positive, "
                 "padding not negative");
  }
  HOTARU_CHECK(d.weight_groups > 0 &&
                   input.size(1) == weight.size(1) * d.weight_groups &&
                   weight.size(0) % d.weight_groups == 0,
               "deform_conv2d: ", input.size(1), " input channels and ",
               weight.size(0), " output channels in ", d.weight_groups,
               " groups do not fit a weight of shape ",
               shape_text(weight.sizes()));
  HOTARU_CHECK(d.groups > 0 && input.size(1) % d.groups == 0,
               "deform_conv2d: ", input.size(1),
               " input channels are not divided by ", d.groups,
               " groups of offsets");
  const int64_t taps = d.kernel[0] * d.kernel[1] * d.groups;
  Dims want{input.size(0), 2 * taps, 0, 0};
  for (size_t k = 0; k < 2; ++k)
    want[k + 2] = (input.size(int64_t(k) + 2) + 2 * d.padding[k] -
                   d.dilation[k] * (d.kernel[k] - 1) - 1) /
                      d.stride[k] +
                  1;
  HOTARU_CHECK(want[2] > 0 && want[3] > 0,
               "deform_conv2d: calculated output size too small - out_h: ",
               want[2], " out_w: ", want[3]);
  HOTARU_CHECK(offset.sizes() == IntSpan(want),
               "deform_conv2d: offset has shape ", shape_text(offset.sizes()),
               ", not ", shape_text(want));
  want[1] = taps;
  HOTARU_CHECK(!d.masked || mask.sizes() == IntSpan(want),
               "deform_conv2d: mask has shape ", shape_text(mask.sizes()),
               ", not ", shape_text(want));
  HOTARU_CHECK(bias.dim() == 1 && bias.size(0) == weight.size(0),
               "deform_conv2d: bias has shape ", shape_text(bias.sizes()),
               ", not [", weight.size(0), "]");
}

/// Factors of the products, row-major and of one dtype.
struct Pictures {
  Pictures(const Tensor& input, const Tensor& weight, const Tensor& offset,
           const Tensor& mask, const Deform& d)
      : d(d),
        input(as_working(input)),
        offset(as_working(offset)),
        mask(d.masked ? as_working(mask) : Tensor()),
        weight(reshape(
            as_working(weight),
            Dims{d.weight_groups, weight.size(0) / d.weight_groups, -1})),
        positions(offset.size(2) * offset.size(3)) {}

  Tensor mask_of(int64_t i) const {
    return mask.defined() ? select(mask, 0, i) : Tensor();
  }
  /// The samples of picture i, [weight groups, what a product takes, places].
  Tensor columns(int64_t i) const {
    static const Kernel& run = kernel("deform_columns");
    const int64_t rows = input.size(1) * d.kernel[0] * d.kernel[1];
    const Tensor out =
        allocate(Dims{rows, positions}, input.dtype(), input.device());
    const Tensor from = select(input, 0, i), where = select(offset, 0, i),
                 factor = mask_of(i);
    enqueue(run, {write(out), read(from), read(where), read(factor)},
            static_cast<const DeformAttributes&>(d));
    return view(out, Dims{d.weight_groups, rows / d.weight_groups, positions});
  }

  const Deform& d;
  Tensor input, offset, mask, weight;
  int64_t positions;
};

using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

Five backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
              const Tensor& offset, const Tensor& mask, const Tensor& bias,
              const Deform& d) {
  static const Kernel& run = kernel("deform_columns_backward");
  check(input, weight, offset, mask, bias, d);
  HOTARU_CHECK((grad.sizes() == IntSpan(Dims{input.size(0), weight.size(0),
                                             offset.size(2), offset.size(3)})),
               "deform_conv2d: gradient has shape ", shape_text(grad.sizes()));
  if (grad.numel() > 0) require_deterministic_cuda("compute_grad_input", grad);
  Tensors out;
  {
    autograd::NoGrad guard;
    const Pictures p(input, weight, offset, mask, d);
    const Tensor g = as_working(grad), upright = transpose(p.weight, 1, 2);
    const Tensor by_input = empty_like(p.input),
                 by_offset = empty_like(p.offset);
    const Tensor by_mask = d.masked ? empty_like(p.mask) : Tensor();
    Tensor by_weight = zeros(p.weight.sizes(), TensorOptions(p.weight));
    for (int64_t i = 0; i < p.input.size(0); ++i) {
      const Tensor one =
          view(select(g, 0, i), Dims{d.weight_groups, -1, p.positions});
      by_weight = add(by_weight, bmm(one, transpose(p.columns(i), 1, 2)));
      const Tensor by_columns = contiguous(bmm(upright, one));
      const Tensor to_input = select(by_input, 0, i),
                   to_offset = select(by_offset, 0, i),
                   to_mask = d.masked ? select(by_mask, 0, i) : Tensor();
      const Tensor from = select(p.input, 0, i), where = select(p.offset, 0, i),
                   factor = p.mask_of(i);
      enqueue(run,
              {write(to_input), write(to_offset), write(to_mask),
               read(by_columns), read(from), read(where), read(factor)},
              static_cast<const DeformAttributes&>(d));
    }
    out = {by_input, reshape(by_weight, weight.sizes()), by_offset,
           d.masked ? by_mask : zeros(mask.sizes(), TensorOptions(mask)),
           sum(g, Dims{0, 2, 3})};
    for (Tensor& t : out) t = to(t, input.dtype());
  }
  for (const Tensor& t : out)
    refuse_gradient("DeformConv2dBackwardBackward0",
                    "double backwards on deform_conv2d not supported", t,
                    {grad, input, weight, offset, mask});
  return {out[0], out[1], out[2], out[3], out[4]};
}

Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& offset,
               const Tensor& mask, const Tensor& bias, const Deform& d) {
  check(input, weight, offset, mask, bias, d);
  Tensor out;
  {
    autograd::NoGrad guard;
    const Pictures p(input, weight, offset, mask, d);
    Tensors each;
    for (int64_t i = 0; i < p.input.size(0); ++i)
      each.push_back(bmm(p.weight, p.columns(i)));
    const Dims shape{input.size(0), weight.size(0), offset.size(2),
                     offset.size(3)};
    const Tensor products = each.empty() ? zeros(shape, TensorOptions(p.input))
                                         : reshape(stack(each, 0), shape);
    out =
        to(products + view(as_working(bias), Dims{1, -1, 1, 1}), input.dtype());
  }
  if (autograd::needs_grad(input, weight, offset, mask, bias))
    autograd::record(
        "DeformConv2dBackward0", out, {input, weight, offset, mask, bias},
        {input, weight, offset, mask, bias}, [d](Backward& b, const Tensor& g) {
          auto [i, w, o, m, s] = backward(g, b.saved(0), b.saved(1), b.saved(2),
                                          b.saved(3), b.saved(4), d);
          return Tensors{i, w, o, m, s};
        });
  return out;
}

Deform steps(const Tensor& weight, std::array<int64_t, 2> stride,
             std::array<int64_t, 2> padding, std::array<int64_t, 2> dilation,
             int64_t groups, int64_t offset_groups, bool masked) {
  HOTARU_CHECK(weight.dim() == 4, "deform_conv2d: expected a 4-D weight, got ",
               weight.dim(), "-D");
  return {{{weight.size(2), weight.size(3)},
           stride,
           padding,
           dilation,
           offset_groups},
          groups,
          masked};
}

HOTARU_OP(
    "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, "
    "Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt "
    "pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt "
    "groups, SymInt offset_groups, bool use_mask) -> Tensor",
    +[](const Tensor& input, const Tensor& weight, const Tensor& offset,
        const Tensor& mask, const Tensor& bias, int64_t stride_h,
        int64_t stride_w, int64_t pad_h, int64_t pad_w, int64_t dilation_h,
        int64_t dilation_w, int64_t groups, int64_t offset_groups,
        bool use_mask) {
      return forward(
          input, weight, offset, mask, bias,
          steps(weight, {stride_h, stride_w}, {pad_h, pad_w},
                {dilation_h, dilation_w}, groups, offset_groups, use_mask));
    });
HOTARU_OP(
    "torchvision::_deform_conv2d_backward(Tensor grad, Tensor input, Tensor "
    "weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt "
    "stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt "
    "dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> "
    "(Tensor, Tensor, Tensor, Tensor, Tensor)",
    +[](const Tensor& grad, const Tensor& input, const Tensor& weight,
        const Tensor& offset, const Tensor& mask, const Tensor& bias,
        int64_t stride_h, int64_t stride_w, int64_t pad_h, int64_t pad_w,
        int64_t dilation_h, int64_t dilation_w, int64_t groups,
        int64_t offset_groups, bool use_mask) {
      return backward(
          grad, input, weight, offset, mask, bias,
          steps(weight, {stride_h, stride_w}, {pad_h, pad_w},
                {dilation_h, dilation_w}, groups, offset_groups, use_mask));
    });

}  // namespace
}  // namespace hotaru
