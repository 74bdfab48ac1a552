#include "hotaru/ops/activation/activation_grad.h"

#include <cmath>
#include <numbers>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grads {
namespace {

using autograd::Backward;

// Each formula is g times the derivative, or g where a condition holds: by one
// kernel, or by differentiable operators where the pass itself is recorded.
struct Fused {
  const char* name;
  PointwiseNumbers numbers = {};
  // Set if the derivative has none itself (ops/flat.h).
  bool flat = false;
};

template <class F>
void of_tensor(const char* name, const Tensor& out, const Tensor& self,
               const autograd::Save& saved, const Fused& fused, F f) {
  autograd::record(name, out, {self}, {saved},
                   [f, numbers = fused.numbers, flat = fused.flat,
                    &gradient = kernel(fused.name)](
                       Backward& b, const Tensor& g) -> Tensors {
                     const Tensor x = b.saved(0);
                     if (autograd::grad_enabled()) {
                       // The steps of 16-bit numbers are float32, as the
                       // kernel's.
                       const Tensor made =
                           to(f(widened(g), widened(x)), g.dtype());
                       return {flat ? flat_in(b, made) : made};
                     }
                     return {elementwise::binary({gradient}, g, x, numbers)};
                   });
}
template <class F>
void of_input(const char* name, const Tensor& out, const Tensor& self,
              const Tensor& x, const Fused& fused, F f) {
  of_tensor(name, out, self, x, fused, f);
}
template <class F>
void of_result(const char* name, const Tensor& out, const Tensor& self,
               const Fused& fused, F f) {
  of_tensor(name, out, self, autograd::saved_output(out), fused, f);
}

Tensor unless(const Tensor& condition, const Tensor& g) {
  return masked_fill(g, condition, 0);
}

/// True where x, which may be NaN, does not lie between the limits.
Tensor outside(const Tensor& x, const Scalar& low, const Scalar& high) {
  return logical_not(logical_and(gt(x, low), lt(x, high)));
}

/// True where x, which may be NaN, does not lie beyond +-l.
Tensor within(const Tensor& x, const Scalar& l) {
  return logical_not(logical_or(lt(x, -l), gt(x, l)));
}

Tensor leaky(const Tensor& g, const Tensor& x, const Scalar& slope) {
  return where(gt(x, 0), g, g * slope);
}

/// `t` where it is negative, else the constant 0.
Tensor negative(const Tensor& t) {
  return masked_fill(t, ge(t, 0), 0);
}

// Derivatives of elu: scale above zero, else alpha scale c e^(c x), of which
// the result's form is c (y + alpha scale).
Tensor elu_slope(const Tensor& g, const Tensor& x, double alpha, double scale,
                 double c) {
  const Tensor below = exp(negative(x) * c) * (alpha * scale * c);
  return where(gt(x, 0), g * scale, g * below);
}
Tensor elu_slope_result(const Tensor& g, const Tensor& y, double alpha,
                        double scale, double c) {
  return where(gt(y, 0), g * scale, g * ((negative(y) + alpha * scale) * c));
}

constexpr double kRootTwoOverPi = 0.79788456080286535588;

}  // namespace

void leaky_relu(const Tensor& out, const Tensor& self, const Tensor& x,
                const PointwiseNumbers& n) {
  of_input(
      "LeakyReluBackward0", out, self, x, {"leaky_relu_grad", n, true},
      [s = n.a](const Tensor& g, const Tensor& x) { return leaky(g, x, s); });
}
void leaky_relu_result(const Tensor& out, const Tensor& self, const Tensor&,
                       const PointwiseNumbers& n) {
  of_result(
      "LeakyReluBackward1", out, self, {"leaky_relu_grad", n, true},
      [s = n.a](const Tensor& g, const Tensor& y) { return leaky(g, y, s); });
}

void elu(const Tensor& out, const Tensor& self, const Tensor& x,
         const PointwiseNumbers& n) {
  of_input("EluBackward0", out, self, x, {"elu_grad", n},
           [a = n.a.to_double(), b = n.b.to_double(), c = n.c.to_double()](
               const Tensor& g, const Tensor& x) {
             return elu_slope(g, x, a, b, c);
           });
}
void elu_result(const Tensor& out, const Tensor& self, const Tensor&,
                const PointwiseNumbers& n) {
  of_result("EluBackward1", out, self, {"elu_result_grad", n},
            [a = n.a.to_double(), b = n.b.to_double(), c = n.c.to_double()](
                const Tensor& g, const Tensor& y) {
              return elu_slope_result(g, y, a, b, c);
            });
}
void celu(const Tensor& out, const Tensor& self, const Tensor& x,
          const PointwiseNumbers& n) {
  of_input("CeluBackward0", out, self, x, {"elu_grad", n},
           [a = n.a.to_double()](const Tensor& g, const Tensor& x) {
             return elu_slope(g, x, a, 1, 1 / a);
           });
}
void celu_result(const Tensor& out, const Tensor& self, const Tensor&,
                 const PointwiseNumbers& n) {
  of_result("CeluBackward1", out, self, {"elu_result_grad", n},
            [a = n.a.to_double()](const Tensor& g, const Tensor& y) {
              return elu_slope_result(g, y, a, 1, 1 / a);
            });
}

void gelu(const Tensor& out, const Tensor& self, const Tensor& x,
          const PointwiseNumbers&) {
  of_input("GeluBackward0", out, self, x, {"gelu_grad"},
           [](const Tensor& g, const Tensor& x) {
             const Tensor cdf = (erf(x * (std::numbers::sqrt2 / 2)) + 1) * 0.5;
             const Tensor pdf = exp(x * x * -0.5) * (std::numbers::inv_sqrtpi /
                                                     std::numbers::sqrt2);
             return g * (cdf + x * pdf);
           });
}

void gelu_tanh(const Tensor& out, const Tensor& self, const Tensor& x,
               const PointwiseNumbers&) {
  of_input(
      "GeluBackward0", out, self, x, {"gelu_tanh_grad"},
      [](const Tensor& g, const Tensor& x) {
        // Its slope is 0 or 1 far out, where squares may be infinite.
        const Tensor near = clamp(x, Scalar(-100), Scalar(100));
        const Tensor square = near * near;
        const Tensor inner = (near + square * near * 0.044715) * kRootTwoOverPi;
        const Tensor t = tanh(inner);
        const Tensor slope = (square * (3 * 0.044715) + 1) * kRootTwoOverPi;
        return g * ((t + 1) * 0.5 + near * (1 - t * t) * slope * 0.5);
      });
}

void silu(const Tensor& out, const Tensor& self, const Tensor& x,
          const PointwiseNumbers&) {
  of_input("SiluBackward0", out, self, x, {"silu_grad"},
           [](const Tensor& g, const Tensor& x) {
             const Tensor s = sigmoid(x);
             return g * (s * (x * (1 - s) + 1));
           });
}

void mish(const Tensor& out, const Tensor& self, const Tensor& x,
          const PointwiseNumbers&) {
  of_input("MishBackward0", out, self, x, {"mish_grad"},
           [](const Tensor& g, const Tensor& x) {
             const Tensor s = sigmoid(x);
             const Tensor t = tanh(hotaru::softplus(x));
             // Its slope is straight far out, where the product is 0.
             const Tensor near = masked_fill(x, isinf(x), 0);
             return g * (t + near * s * (1 - t * t));
           });
}

void hardtanh(const Tensor& out, const Tensor& self, const Tensor& x,
              const PointwiseNumbers& n) {
  of_input("HardtanhBackward0", out, self, x, {"hardtanh_grad", n, true},
           [lo = n.a, hi = n.b](const Tensor& g, const Tensor& x) {
             return unless(outside(x, lo, hi), g);
           });
}

void hardtanh_result(const Tensor& out, const Tensor& self, const Tensor&,
                     const PointwiseNumbers& n) {
  of_result("HardtanhBackward0", out, self, {"hardtanh_grad", n, true},
            [lo = n.a, hi = n.b](const Tensor& g, const Tensor& y) {
              return unless(outside(y, lo, hi), g);
            });
}

void hardsigmoid(const Tensor& out, const Tensor& self, const Tensor& x,
                 const PointwiseNumbers&) {
  of_input("HardsigmoidBackward0", out, self, x, {"hardsigmoid_grad", {}, true},
           [](const Tensor& g, const Tensor& x) {
             return unless(outside(x, -3, 3), g * (1.0 / 6));
           });
}

void hardswish(const Tensor& out, const Tensor& self, const Tensor& x,
               const PointwiseNumbers&) {
  of_input("HardswishBackward0", out, self, x, {"hardswish_grad"},
           [](const Tensor& g, const Tensor& x) {
             const Tensor above = ge(x, 3), below = le(x, -3);
             const Tensor bent = harmless(x, logical_or(above, below));
             const Tensor inner = unless(below, g * (bent / 3.0 + 0.5));
             return where(above, g, inner);
           });
}

void softplus(const Tensor& out, const Tensor& self, const Tensor& x,
              const PointwiseNumbers& n) {
  of_input("SoftplusBackward0", out, self, x, {"softplus_grad", n},
           [beta = n.a, limit = n.b](const Tensor& g, const Tensor& x) {
             const Tensor scaled = x * beta;
             return where(gt(scaled, limit), g, g * sigmoid(scaled));
           });
}

void softshrink(const Tensor& out, const Tensor& self, const Tensor& x,
                const PointwiseNumbers& n) {
  of_input("SoftshrinkBackward0", out, self, x, {"shrink_grad", n, true},
           [l = n.a](const Tensor& g, const Tensor& x) {
             return unless(within(x, l), g);
           });
}

void hardshrink(const Tensor& out, const Tensor& self, const Tensor& x,
                const PointwiseNumbers& n) {
  of_input("HardshrinkBackward0", out, self, x, {"shrink_grad", n, true},
           [l = n.a](const Tensor& g, const Tensor& x) {
             return unless(within(x, l), g);
           });
}

void threshold(const Tensor& out, const Tensor& self, const Tensor& x,
               const PointwiseNumbers& n) {
  of_input("ThresholdBackward0", out, self, x, {"threshold_grad", n, true},
           [limit = n.a](const Tensor& g, const Tensor& x) {
             return unless(le(x, limit), g);
           });
}

void log_sigmoid(const Tensor& out, const Tensor& self, const Tensor& x,
                 const PointwiseNumbers&) {
  of_input("LogSigmoidBackward0", out, self, x, {"log_sigmoid_grad"},
           [](const Tensor& g, const Tensor& x) { return g * sigmoid(-x); });
}

void prelu(const Tensor& out, const Tensor& self, const Tensor& slope) {
  autograd::record(
      "PreluKernelBackward0", out, {self, slope}, {self, slope},
      [](Backward& b, const Tensor& g) -> Tensors {
        const Tensor x = b.saved(0), w = b.saved(1);
        const Tensor above = gt(x, 0);
        const Tensor of_x = where(above, g, g * w);
        return {flat_in(b, of_x), sum_to(unless(above, g * x), w.sizes())};
      });
}

}  // namespace hotaru::grads
