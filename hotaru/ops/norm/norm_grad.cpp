#include "hotaru/ops/norm/norm_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

using autograd::Backward;

/// How a normalisation looks over a view of x: which dimensions share their
/// statistics, which share their weight, and the view's shape.
struct Pattern {
  Dims view, weight_view, statistics, parameters;
};

/// The gradients out of differentiable operators. Without `fixed` statistics
/// they are computed from x anew, so that the second derivative sees them.
Tensors composite(const Pattern& p, const Tensor& g, const Tensor& x,
                  const Tensor& weight, double eps, const Tensor& fixed_mean,
                  const Tensor& fixed_rstd) {
  const Tensor grad = reshape(widened(g), p.view);
  const Tensor values = reshape(widened(x), p.view);
  const bool fixed = fixed_mean.defined();
  const Tensor centred =
      values - (fixed ? fixed_mean : mean(values, p.statistics, true));
  const Tensor rstd =
      fixed ? fixed_rstd
            : rsqrt(mean(centred * centred, p.statistics, true) + eps);
  const Tensor unit = centred * rstd;
  Tensor scaled = grad;
  if (weight.defined())
    scaled = grad * to(reshape(weight, p.weight_view), grad.dtype());
  Tensor gx = scaled * rstd;
  if (!fixed)
    gx = rstd * (scaled - mean(scaled, p.statistics, true) -
                 unit * mean(scaled * unit, p.statistics, true));
  return {to(reshape(gx, x.sizes()), x.dtype()), sum(grad * unit, p.parameters),
          sum(grad, p.parameters)};
}

Tensors shaped_like(Tensors grads, const Tensor& weight, IntSpan bias_size,
                    Optional<DType> bias_dtype) {
  if (weight.defined())
    grads[1] = to(reshape(grads[1], weight.sizes()), weight.dtype());
  else
    grads[1] = {};
  if (bias_dtype)
    grads[2] = to(reshape(grads[2], bias_size), *bias_dtype);
  else
    grads[2] = {};
  return grads;
}

/// Facts that the formulas know about the operands besides saved tensors.
struct Shape {
  Dims bias_size;
  Optional<DType> bias_dtype;
  explicit Shape(const Tensor& bias) {
    if (!bias.defined()) return;
    bias_size = Dims(bias.sizes());
    bias_dtype = bias.dtype();
  }
};

template <class A>
Tensors fused(const Kernel& kernel, Backward& node, const Tensor& g,
              const Shape& shape, const A& attributes) {
  const Tensor x = contiguous(node.saved(0));
  const Tensor weight = node.saved(1);
  const Tensor grad = contiguous(g);
  const Tensor scale = weight.defined() ? contiguous(weight) : weight;
  const Device device = x.device();
  Tensors out(3);
  if (node.needs(0)) out[0] = allocate(x.sizes(), x.dtype(), device);
  if (node.needs(1)) out[1] = allocate(weight.sizes(), weight.dtype(), device);
  if (node.needs(2))
    out[2] = allocate(shape.bias_size, *shape.bias_dtype, device);
  // No gradient may be wanted of the first operand: the stream is x's.
  const Tensor mean = node.saved(2), rstd = node.saved(3);
  const Operand operands[] = {write(out[0]), write(out[1]), write(out[2]),
                              read(grad),    read(x),       read(mean),
                              read(rstd),    read(scale)};
  current_stream(device).enqueue({kernel, operands, attributes});
  return out;
}

/// The dtype that statistics are in.
DType statistics_of(const Tensors& grads) {
  return grads[grads[0].defined() ? 0 : 1].dtype();
}

/// The gradients, that of the bias with the other inputs in its graph.
Tensors named(const Backward& node, Tensors grads) {
  if (grads[2].defined()) grads[2] = flat_in_both(node, grads[2]);
  return grads;
}

}  // namespace

void record_row_norm(const char* name, const Tensor& out, const Tensor& x,
                     const Tensor& weight, const Tensor& bias,
                     const Tensor& mean, const Tensor& rstd,
                     const RowNormAttributes& a) {
  static const Kernel& grad_kernel = kernel("row_norm_grad");
  if (!autograd::needs_grad(x, weight, bias)) return;
  autograd::record(
      name, out, {x, weight, bias}, {x, weight, mean, rstd},
      [a, shape = Shape(bias)](Backward& node, const Tensor& g) -> Tensors {
        if (!autograd::grad_enabled())
          return fused(grad_kernel, node, g, shape, a);
        const int64_t groups = a.period, units = a.columns / a.inner;
        const Pattern pattern{{a.rows / groups, groups, units, a.inner},
                              {1, groups, units, 1},
                              {2, 3},
                              {0, 3}};
        const Tensor weight = node.saved(1);
        return named(node,
                     shaped_like(composite(pattern, g, node.saved(0), weight,
                                           a.eps, {}, {}),
                                 weight, shape.bias_size, shape.bias_dtype));
      });
}

void record_statistics(const char* name, const Tensor& mean, const Tensor& rstd,
                       const Tensor& x, double eps) {
  if (!autograd::needs_grad(x)) return;
  autograd::record(
      name, Tensors{mean, rstd}, {x}, {x},
      [size = Dims(mean.sizes()), eps](Backward& node,
                                       const Tensors& grads) -> Tensors {
        const Tensor x = node.saved(0);
        if (x.numel() == 0) return {zeros_like(x)};
        Dims rows = size, ones = size;
        rows.push_back(x.numel() / numel_of(size));
        ones.push_back(1);
        const double count = double(rows.back());
        const Tensor values = to(reshape(x, rows), statistics_of(grads));
        Tensor out = zeros_like(values);
        if (grads[0].defined()) out = out + reshape(grads[0], ones) / count;
        if (grads[1].defined()) {
          const Tensor centred = values - hotaru::mean(values, Dims{-1}, true);
          const Tensor rstd =
              rsqrt(hotaru::mean(centred * centred, Dims{-1}, true) + eps);
          const Tensor slope = reshape(grads[1], ones) * rstd * rstd * rstd;
          out = out - centred * slope / count;
        }
        return {to(reshape(out, x.sizes()), x.dtype())};
      });
}

void record_batch_norm(const Tensor& out, const Tensor& x, const Tensor& weight,
                       const Tensor& bias, const Tensor& mean,
                       const Tensor& rstd, const BatchNormAttributes& a) {
  static const Kernel& grad_kernel = kernel("batch_norm_grad");
  if (!autograd::needs_grad(x, weight, bias)) return;
  autograd::record(
      "NativeBatchNormBackward0", out, {x, weight, bias},
      {x, weight, mean, rstd},
      [a, shape = Shape(bias)](Backward& node, const Tensor& g) -> Tensors {
        if (!autograd::grad_enabled())
          return fused(grad_kernel, node, g, shape, a);
        const Tensor x = node.saved(0), weight = node.saved(1);
        const int64_t n = x.size(0), c = x.size(1);
        const Dims channel{1, c, 1};
        const Pattern pattern{{n, c, n * c > 0 ? x.numel() / (n * c) : 1},
                              channel,
                              {0, 2},
                              {0, 2}};
        const auto fixed = [&](size_t i) {
          if (a.training) return Tensor();
          return reshape(node.saved(i), channel);
        };
        return named(
            node, shaped_like(composite(pattern, g, x, weight, a.eps, fixed(2),
                                        fixed(3)),
                              weight, shape.bias_size, shape.bias_dtype));
      });
}

}  // namespace hotaru
