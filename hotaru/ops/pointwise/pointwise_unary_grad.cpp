// Gradients of the elementwise operators of one tensor.
#include <complex>
#include <limits>
#include <numbers>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/pointwise/special.h"

namespace hotaru::grads {
namespace {

using autograd::Backward;
using autograd::record;
using autograd::saved_output;

/// A gradient formula of one tensor that was kept: g -> f(g, tensor).
using FormulaOfOne = Tensor (*)(const Tensor& g, const Tensor& kept);

void from_kept(const char* name, const Tensor& out, const Tensor& self,
               const autograd::Save& kept, FormulaOfOne f) {
  record(name, out, {self}, {kept},
         [f](Backward& b, const Tensor& g) -> Tensors {
           return {f(g, b.saved(0))};
         });
}
/// A gradient formula of the input x: g -> f(g, x).
void from_input(const char* name, const Tensor& out, const Tensor& self,
                FormulaOfOne f) {
  from_kept(name, out, self, self, f);
}
/// A gradient formula of the output y: g -> f(g, y).
void from_output(const char* name, const Tensor& out, const Tensor& self,
                 FormulaOfOne f) {
  from_kept(name, out, self, saved_output(out), f);
}

// The most frequent formulas as one kernel, unless the pass is recorded.
const elementwise::Spec kTanhGrad{kernel("tanh_grad")};
const elementwise::Spec kSigmoidGrad{kernel("sigmoid_grad")};
const elementwise::Spec kThresholdGrad{kernel("threshold_grad")};

bool one_kernel(const Tensor& g) {
  return !autograd::grad_enabled() && g.is_floating_point();
}

/// The root of a product is that of its factors for real numbers only.
Tensor acosh_slope(const Tensor& x) {
  if (!x.is_complex()) return rsqrt(x * x - 1);
  return rsqrt(x - 1) * rsqrt(x + 1);
}

/// The derivative of sin(pi x) / (pi x), which is 0 where x is.
Tensor sinc_slope(const Tensor& x) {
  const Tensor angle = x * std::numbers::pi, area = x * x * std::numbers::pi;
  const Tensor none = eq(area, 0);
  const Tensor slope = (angle * cos(angle) - sin(angle)) / harmless(area, none);
  if (!autograd::grad_enabled()) return masked_fill(slope, none, 0);
  // The first term of the series, whose own slope is not zero.
  const double curve = -std::numbers::pi * std::numbers::pi / 3;
  return where(none, x * curve, slope);
}

/// An integer whose predecessor is the same number to any float.
bool is_smallest(const Scalar& exponent) {
  return exponent.is_integral() &&
         exponent.to_int() == std::numeric_limits<int64_t>::min();
}

}  // namespace

void exp(const Tensor& out, const Tensor& self) {
  from_output("ExpBackward0", out, self,
              [](auto& g, auto& y) { return g * conj(y); });
}

void exp2(const Tensor& out, const Tensor& self) {
  from_output("Exp2Backward0", out, self,
              [](auto& g, auto& y) { return g * conj(y) * std::numbers::ln2; });
}

void expm1(const Tensor& out, const Tensor& self) {
  from_output("Expm1Backward0", out, self,
              [](auto& g, auto& y) { return g * conj(y + 1); });
}

void sqrt(const Tensor& out, const Tensor& self) {
  from_output("SqrtBackward0", out, self,
              [](auto& g, auto& y) { return g / conj(y * 2); });
}

void rsqrt(const Tensor& out, const Tensor& self) {
  from_output("RsqrtBackward0", out, self,
              [](auto& g, auto& y) { return g * conj(pow(y, 3)) * -0.5; });
}

void reciprocal(const Tensor& out, const Tensor& self) {
  from_output("ReciprocalBackward0", out, self,
              [](auto& g, auto& y) { return -(g * conj(y * y)); });
}

void tan(const Tensor& out, const Tensor& self) {
  from_output("TanBackward0", out, self,
              [](auto& g, auto& y) { return g * conj(y * y + 1); });
}

void tanh(const Tensor& out, const Tensor& self) {
  from_output("TanhBackward0", out, self, [](auto& g, auto& y) {
    return one_kernel(g) ? elementwise::binary(kTanhGrad, g, y)
                         : g * conj(1 - y * y);
  });
}

void sigmoid(const Tensor& out, const Tensor& self) {
  from_output("SigmoidBackward0", out, self, [](auto& g, auto& y) {
    return one_kernel(g) ? elementwise::binary(kSigmoidGrad, g, y)
                         : g * conj(y * (1 - y));
  });
}

void log(const Tensor& out, const Tensor& self) {
  from_input("LogBackward0", out, self,
             [](auto& g, auto& x) { return g / conj(x); });
}

void log2(const Tensor& out, const Tensor& self) {
  from_input("Log2Backward0", out, self,
             [](auto& g, auto& x) { return g / conj(x * std::numbers::ln2); });
}

void log10(const Tensor& out, const Tensor& self) {
  from_input("Log10Backward0", out, self,
             [](auto& g, auto& x) { return g / conj(x * std::numbers::ln10); });
}

void log1p(const Tensor& out, const Tensor& self) {
  from_input("Log1PBackward0", out, self,
             [](auto& g, auto& x) { return g / conj(x + 1); });
}

void sin(const Tensor& out, const Tensor& self) {
  from_input("SinBackward0", out, self,
             [](auto& g, auto& x) { return g * conj(cos(x)); });
}

void cos(const Tensor& out, const Tensor& self) {
  from_input("CosBackward0", out, self,
             [](auto& g, auto& x) { return -(g * conj(sin(x))); });
}

void asin(const Tensor& out, const Tensor& self) {
  from_input("AsinBackward0", out, self,
             [](auto& g, auto& x) { return g * conj(rsqrt(1 - x * x)); });
}

void acos(const Tensor& out, const Tensor& self) {
  from_input("AcosBackward0", out, self,
             [](auto& g, auto& x) { return -(g * conj(rsqrt(1 - x * x))); });
}

void atan(const Tensor& out, const Tensor& self) {
  from_input("AtanBackward0", out, self,
             [](auto& g, auto& x) { return g / conj(x * x + 1); });
}

void sinh(const Tensor& out, const Tensor& self) {
  from_input("SinhBackward0", out, self,
             [](auto& g, auto& x) { return g * conj(cosh(x)); });
}

void cosh(const Tensor& out, const Tensor& self) {
  from_input("CoshBackward0", out, self,
             [](auto& g, auto& x) { return g * conj(sinh(x)); });
}

void asinh(const Tensor& out, const Tensor& self) {
  from_input("AsinhBackward0", out, self,
             [](auto& g, auto& x) { return g * conj(rsqrt(x * x + 1)); });
}

void acosh(const Tensor& out, const Tensor& self) {
  from_input("AcoshBackward0", out, self,
             [](auto& g, auto& x) { return g * conj(acosh_slope(x)); });
}

void atanh(const Tensor& out, const Tensor& self) {
  from_input("AtanhBackward0", out, self,
             [](auto& g, auto& x) { return g / conj(1 - x * x); });
}

void erf(const Tensor& out, const Tensor& self) {
  from_input("ErfBackward0", out, self, [](auto& g, auto& x) {
    return g * exp(-(x * x)) * (2 * std::numbers::inv_sqrtpi);
  });
}

void erfc(const Tensor& out, const Tensor& self) {
  from_input("ErfcBackward0", out, self, [](auto& g, auto& x) {
    return g * exp(-(x * x)) * (-2 * std::numbers::inv_sqrtpi);
  });
}

void lgamma(const Tensor& out, const Tensor& self) {
  from_input("LgammaBackward0", out, self,
             [](auto& g, auto& x) { return g * digamma(x); });
}

void digamma(const Tensor& out, const Tensor& self) {
  from_input("DigammaBackward0", out, self,
             [](auto& g, auto& x) { return g * polygamma(1, x); });
}

void sinc(const Tensor& out, const Tensor& self) {
  from_input("SincBackward0", out, self,
             [](auto& g, auto& x) { return g * conj(sinc_slope(x)); });
}

void relu(const Tensor& out, const Tensor& self) {
  record("ReluBackward0", out, {self}, {saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           const Tensor y = b.saved(0);
           if (one_kernel(g))
             return {elementwise::binary(kThresholdGrad, g, y)};
           return {flat_in_output(b, masked_fill(g, le(y, 0), 0),
                                  "ThresholdBackwardBackward0")};
         });
}

void abs(const Tensor& out, const Tensor& self) {
  from_input("AbsBackward0", out, self, [](const Tensor& g, const Tensor& x) {
    if (!x.is_complex() || autograd::grad_enabled()) return g * sign(x);
    // At zero a gradient is multiplied by zero, which NaN survives.
    const Tensor length = abs(x);
    return x * (g / masked_fill(length, eq(length, 0), 1));
  });
}

void neg(const Tensor& out, const Tensor& self) {
  record("NegBackward0", out, {self}, {},
         [](Backward&, const Tensor& g) -> Tensors { return {-g}; });
}

void trigamma(const Tensor& out, const Tensor& self) {
  from_input(
      "PolygammaBackward0", out, self,
      [](const Tensor& g, const Tensor& x) { return g * polygamma(2, x); });
}

void angle(const Tensor& out, const Tensor& self) {
  if (!self.is_complex()) return zero("AngleBackward0", out, self);
  from_input("AngleBackward0", out, self, [](const Tensor& g, const Tensor& x) {
    const Tensor length = abs(x), none = eq(length, 0);
    const Tensor turned = g * x / harmless(length * length, none);
    return masked_fill(mul(turned, Scalar(std::complex<double>(0, 1))), none,
                       0);
  });
}

void sign(const Tensor& out, const Tensor& self) {
  if (!self.is_complex()) return zero("SignBackward0", out, self);
  // The unit number is turned only; along itself it keeps its length.
  record("SgnBackward0", out, {self}, {self, saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           const Tensor length = abs(b.saved(0)), unit = b.saved(1);
           const Tensor along = real(g * conj(unit)) * unit;
           const Tensor none = eq(length, 0);
           return {masked_fill((g - along) / harmless(length, none), none, 0)};
         });
}

void conj(const Tensor& out, const Tensor& self) {
  record("ConjBackward0", out, {self}, {},
         [](Backward&, const Tensor& g) -> Tensors { return {conj(g)}; });
}

void frac(const Tensor& out, const Tensor& self) {
  record("FracBackward0", out, {self}, {},
         [](Backward&, const Tensor& g) -> Tensors { return {g}; });
}

void zero(const char* name, const Tensor& out, const Tensor& self) {
  record(name, out, {self}, {},
         [](Backward&, const Tensor& g) -> Tensors { return {zeros_like(g)}; });
}

void pow_scalar(const Tensor& out, const Tensor& self, const Scalar& exponent) {
  record("PowBackward0", out, {self}, {self},
         [exponent](Backward& b, const Tensor& g) -> Tensors {
           const Tensor x = b.saved(0);
           if (exponent == Scalar(0)) return {zeros_like(g)};
           const Scalar lower =
               exponent.is_complex()    ? Scalar(exponent.to_complex() - 1.0)
               : is_smallest(exponent)  ? exponent
               : exponent.is_integral() ? Scalar(exponent.to_int() - 1)
                                        : Scalar(exponent.to_double() - 1);
           // The slope's slope of a square is constant, but named after x.
           const bool linear = lower == Scalar(1) && !autograd::grad_enabled();
           const Tensor power = linear ? x : pow(x, lower);
           return {g * conj(power * exponent)};
         });
}

void clamp(const Tensor& out, const Tensor& self, const Optional<Scalar>& min,
           const Optional<Scalar>& max) {
  record("ClampBackward1", out, {self}, {self},
         [min, max](Backward& b, const Tensor& g) -> Tensors {
           const Tensor x = b.saved(0);
           Tensor inside = g;
           if (min) inside = masked_fill(inside, logical_not(ge(x, *min)), 0);
           if (max) inside = masked_fill(inside, logical_not(le(x, *max)), 0);
           return {inside};
         });
}

}  // namespace hotaru::grads
