#include "hotaru/ops/reduce/moments_grad.h"

#include <cmath>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/reduce_dims.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grad {
namespace {

using autograd::Backward;
using autograd::saved_output;

struct Over {
  Dims dims;
  double correction;
  bool keepdim;
};

Tensor var_gradient(const Tensor& g, const Tensor& x, const Over& over) {
  const double n = double(reduced_numel(x, over.dims)) - over.correction;
  const Tensor deviation = sub(x, mean(x, over.dims, true));
  return mul(mul(restore_dims(g, over.dims, over.keepdim), Scalar(2.0 / n)),
             deviation);
}

/// Gradient of the root: d sqrt(v) = dv / (2 sqrt(v)), nothing where v is zero.
Tensor std_gradient(const Tensor& g, const Tensor& x, const Tensor& root,
                    const Over& over) {
  const Tensor none = eq(root, Scalar(0));
  const Tensor scaled =
      masked_fill(div(g, mul(harmless(root, none), Scalar(2.0))), none, 0);
  return var_gradient(scaled, x, over);
}

Tensor unit(const Tensor& x) {  // x / |x|, 0 for 0
  if (!x.is_complex()) return sign(x);
  const Tensor magnitude = abs(x), none = eq(magnitude, Scalar(0));
  // Divided by 1 there, so that the derivative is 0, too.
  return masked_fill(div(x, masked_fill(magnitude, none, 1)), none, 0);
}

Tensor norm_gradient(const Tensor& g, const Tensor& x, const Tensor& norm,
                     double order, IntSpan dims) {
  if (order == 1) return mul(unit(x), g);
  const Tensor none = eq(norm, Scalar(0));
  if (order == 2)
    return mul(g, masked_fill(div(x, harmless(norm, none)), none, 0));
  const Tensor magnitude = abs(x);
  if (std::isinf(order)) {
    const Tensor mask = logical_or(eq(magnitude, norm),
                                   logical_and(isnan(magnitude), isnan(norm)));
    return mul(mul(unit(x), mask), div(g, sum(mask, dims, true)));
  }
  // x |x|^(p-2) (g / norm^(p-1)), in a form that needs no 0 to a negative.
  const Tensor zero = eq(magnitude, Scalar(0));
  const Tensor powers =
      masked_fill(pow(harmless(magnitude, zero), Scalar(order - 1)), zero, 0);
  const Tensor scale = masked_fill(
      div(g, pow(harmless(norm, none), Scalar(order - 1))), none, 0);
  return mul(mul(unit(x), powers), scale);
}

}  // namespace

void var(const Tensor& out, const Tensor& self, IntSpan dims, double correction,
         bool keepdim, bool root) {
  const Over over{dims, correction, keepdim};
  if (!root) {
    autograd::record("VarBackward0", out, {self}, {self},
                     [over](Backward& b, const Tensor& g) -> Tensors {
                       return {var_gradient(g, b.saved(0), over)};
                     });
    return;
  }
  autograd::record("StdBackward0", out, {self}, {self, saved_output(out)},
                   [over](Backward& b, const Tensor& g) -> Tensors {
                     return {std_gradient(g, b.saved(0), b.saved(1), over)};
                   });
}

void var_mean(const Tensor& out, const Tensor& mean, const Tensor& self,
              IntSpan dims, double correction, bool keepdim, bool root) {
  autograd::record(
      root ? "StdMeanBackward0" : "VarMeanBackward0", {out, mean}, {self},
      {self, saved_output(out)},
      [over = Over{dims, correction, keepdim}, root](
          Backward& b, const Tensors& grads) -> Tensors {
        const Tensor x = b.saved(0);
        Tensor total;
        if (grads[0].defined())
          total = root ? std_gradient(grads[0], x, b.saved(1), over)
                       : var_gradient(grads[0], x, over);
        if (grads[1].defined()) {
          const Tensor g = restore_dims(grads[1], over.dims, over.keepdim);
          const Tensor part =
              div(expand(g, x.sizes()), Scalar(reduced_numel(x, over.dims)));
          total = total.defined() ? add(total, part) : part;
        }
        return {total};
      });
}

void vector_norm(const Tensor& out, const Tensor& self, double order,
                 IntSpan dims, bool keepdim) {
  autograd::record(
      "LinalgVectorNormBackward0", out, {self}, {self, saved_output(out)},
      [order, dims = Dims(dims), keepdim](Backward& b,
                                          const Tensor& g) -> Tensors {
        if (order == 0) return {Tensor()};
        const Tensor x = b.saved(0);
        return {to(
            norm_gradient(restore_dims(g, dims, keepdim), x,
                          restore_dims(b.saved(1), dims, keepdim), order, dims),
            x.dtype())};
      });
}

}  // namespace hotaru::grad
