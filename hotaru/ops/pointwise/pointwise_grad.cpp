#include "hotaru/ops/pointwise/pointwise_grad.h"

#include <cctype>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/special.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grads {
namespace {

using autograd::Backward;
using autograd::needs_grad;
using autograd::record;
using autograd::saved_output;

/// A gradient formula of the input x: g -> f(g, x).
template <class F>
void from_input(const char* name, const Tensor& out, const Tensor& self, F f) {
  record(name, out, {self}, {self},
         [f](Backward& b, const Tensor& g) -> Tensors {
           return {f(g, b.saved(0))};
         });
}

/// A gradient formula of the output y: g -> f(g, y).
template <class F>
void from_output(const char* name, const Tensor& out, const Tensor& self, F f) {
  record(name, out, {self}, {saved_output(out)},
         [f](Backward& b, const Tensor& g) -> Tensors {
           return {f(g, b.saved(0))};
         });
}

/// Shape and dtype of an operand, to bring its gradient back to.
struct Like {
  explicit Like(const Tensor& t) : shape(t.sizes()), dtype(t.dtype()) {}
  Tensor operator()(const Tensor& g) const {
    // The gradient of a real operand in complex arithmetic is the real part.
    return to(sum_to(g, shape), dtype);
  }
  Dims shape;
  DType dtype;
};

// Which operands a formula reads.
constexpr int kNone = 0, kFirst = 1, kSecond = 2, kBoth = 3;

/// Formulas of two operands: gradients fa(g, a, b) and fb(g, a, b), each
/// summed to its operand's shape. An operand is kept only if a gradient that
/// is wanted reads it; otherwise the formula gets it undefined.
template <int kReadByFA, int kReadByFB, class FA, class FB>
void from_inputs(const char* name, const Tensor& out, const Tensor& self,
                 const Tensor& other, FA fa, FB fb) {
  const int kept =
      (needs_grad(self) ? kReadByFA : 0) | (needs_grad(other) ? kReadByFB : 0);
  const Tensor a = kept & kFirst ? self : Tensor();
  const Tensor b = kept & kSecond ? other : Tensor();
  record(name, out, {self, other}, {a, b},
         [fa, fb, self = Like(self), other = Like(other)](
             Backward& b, const Tensor& g) -> Tensors {
           const Tensor x = b.saved(0), y = b.saved(1);
           return {b.needs(0) ? self(fa(g, x, y)) : Tensor(),
                   b.needs(1) ? other(fb(g, x, y)) : Tensor()};
         });
}

/// Formulas that need no operand: gradients fa(g) and fb(g).
template <class FA, class FB>
void from_gradient(const char* name, const Tensor& out, const Tensor& self,
                   const Tensor& other, FA fa, FB fb) {
  record(name, out, {self, other}, {},
         [fa, fb, self = Like(self), other = Like(other)](
             Backward& b, const Tensor& g) -> Tensors {
           return {b.needs(0) ? self(fa(g)) : Tensor(),
                   b.needs(1) ? other(fb(g)) : Tensor()};
         });
}

Scalar conjugate(const Scalar& s) {
  return s.is_complex() ? Scalar(std::conj(s.to_complex())) : s;
}

/// An operand that only its own gradient needs: without one it may change.
Tensor if_wanted(const Tensor& t) {
  return autograd::needs_grad(t) ? t : Tensor();
}

Tensor masked(const Tensor& g, const Tensor& mask) {
  return hotaru::masked_fill(g, logical_not(mask), 0);
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
  if (!x.is_complex()) return hotaru::rsqrt(x * x - 1);
  return hotaru::rsqrt(x - 1) * hotaru::rsqrt(x + 1);
}

/// The derivative of sin(pi x) / (pi x), which is 0 where x is.
Tensor sinc_slope(const Tensor& x) {
  const Tensor angle = x * std::numbers::pi, area = x * x * std::numbers::pi;
  const Tensor none = eq(area, 0);
  const Tensor slope =
      (angle * hotaru::cos(angle) - hotaru::sin(angle)) / harmless(area, none);
  if (!autograd::grad_enabled()) return hotaru::masked_fill(slope, none, 0);
  // The first term of the series, whose own slope is not zero.
  const double curve = -std::numbers::pi * std::numbers::pi / 3;
  return hotaru::where(none, x * curve, slope);
}

}  // namespace

/// f(g, x) of the input, f(g, y) of the output.
#define HOTARU_GRAD_OF_INPUT(name, node, expression) \
  void name(const Tensor& out, const Tensor& self) { \
    from_input(node, out, self, \
               [](const Tensor& g, const Tensor& x) { return expression; }); \
  }
#define HOTARU_GRAD_OF_OUTPUT(name, node, expression) \
  void name(const Tensor& out, const Tensor& self) { \
    from_output(node, out, self, \
                [](const Tensor& g, const Tensor& y) { return expression; }); \
  }

HOTARU_GRAD_OF_OUTPUT(exp, "ExpBackward0", g* hotaru::conj(y))
HOTARU_GRAD_OF_OUTPUT(exp2, "Exp2Backward0",
                      g* hotaru::conj(y) * std::numbers::ln2)
HOTARU_GRAD_OF_OUTPUT(expm1, "Expm1Backward0", g* hotaru::conj(y + 1))
HOTARU_GRAD_OF_OUTPUT(sqrt, "SqrtBackward0", g / hotaru::conj(y * 2))
HOTARU_GRAD_OF_OUTPUT(rsqrt, "RsqrtBackward0",
                      g* hotaru::conj(hotaru::pow(y, 3)) * -0.5)
HOTARU_GRAD_OF_OUTPUT(reciprocal, "ReciprocalBackward0",
                      -(g* hotaru::conj(y* y)))
HOTARU_GRAD_OF_OUTPUT(tan, "TanBackward0", g* hotaru::conj(y* y + 1))
HOTARU_GRAD_OF_OUTPUT(tanh, "TanhBackward0",
                      one_kernel(g) ? elementwise::binary(kTanhGrad, g, y)
                                    : g* hotaru::conj(1 - y * y))
HOTARU_GRAD_OF_OUTPUT(sigmoid, "SigmoidBackward0",
                      one_kernel(g) ? elementwise::binary(kSigmoidGrad, g, y)
                                    : g* hotaru::conj(y*(1 - y)))
HOTARU_GRAD_OF_INPUT(log, "LogBackward0", g / hotaru::conj(x))
HOTARU_GRAD_OF_INPUT(log2, "Log2Backward0",
                     g / hotaru::conj(x * std::numbers::ln2))
HOTARU_GRAD_OF_INPUT(log10, "Log10Backward0",
                     g / hotaru::conj(x * std::numbers::ln10))
HOTARU_GRAD_OF_INPUT(log1p, "Log1PBackward0", g / hotaru::conj(x + 1))
HOTARU_GRAD_OF_INPUT(sin, "SinBackward0", g* hotaru::conj(hotaru::cos(x)))
HOTARU_GRAD_OF_INPUT(cos, "CosBackward0", -(g* hotaru::conj(hotaru::sin(x))))
HOTARU_GRAD_OF_INPUT(asin, "AsinBackward0",
                     g* hotaru::conj(hotaru::rsqrt(1 - x * x)))
HOTARU_GRAD_OF_INPUT(acos, "AcosBackward0",
                     -(g* hotaru::conj(hotaru::rsqrt(1 - x * x))))
HOTARU_GRAD_OF_INPUT(atan, "AtanBackward0", g / hotaru::conj(x * x + 1))
HOTARU_GRAD_OF_INPUT(sinh, "SinhBackward0", g* hotaru::conj(hotaru::cosh(x)))
HOTARU_GRAD_OF_INPUT(cosh, "CoshBackward0", g* hotaru::conj(hotaru::sinh(x)))
HOTARU_GRAD_OF_INPUT(asinh, "AsinhBackward0",
                     g* hotaru::conj(hotaru::rsqrt(x* x + 1)))
HOTARU_GRAD_OF_INPUT(acosh, "AcoshBackward0", g* hotaru::conj(acosh_slope(x)))
HOTARU_GRAD_OF_INPUT(atanh, "AtanhBackward0", g / hotaru::conj(1 - x * x))
HOTARU_GRAD_OF_INPUT(erf, "ErfBackward0",
                     g* hotaru::exp(-(x* x)) * (2 * std::numbers::inv_sqrtpi))
HOTARU_GRAD_OF_INPUT(erfc, "ErfcBackward0",
                     g* hotaru::exp(-(x* x)) * (-2 * std::numbers::inv_sqrtpi))
HOTARU_GRAD_OF_INPUT(lgamma, "LgammaBackward0", g* hotaru::digamma(x))
HOTARU_GRAD_OF_INPUT(digamma, "DigammaBackward0", g* hotaru::polygamma(1, x))
HOTARU_GRAD_OF_INPUT(sinc, "SincBackward0", g* hotaru::conj(sinc_slope(x)))
#undef HOTARU_GRAD_OF_INPUT
#undef HOTARU_GRAD_OF_OUTPUT

void relu(const Tensor& out, const Tensor& self) {
  record("ReluBackward0", out, {self}, {saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           const Tensor y = b.saved(0);
           if (one_kernel(g))
             return {elementwise::binary(kThresholdGrad, g, y)};
           return {flat_in_output(b, hotaru::masked_fill(g, le(y, 0), 0),
                                  "ThresholdBackwardBackward0")};
         });
}

void abs(const Tensor& out, const Tensor& self) {
  from_input("AbsBackward0", out, self, [](const Tensor& g, const Tensor& x) {
    if (!x.is_complex() || autograd::grad_enabled()) return g * sign(x);
    // At zero a gradient is multiplied by zero, which NaN survives.
    const Tensor length = hotaru::abs(x);
    return x * (g / hotaru::masked_fill(length, eq(length, 0), 1));
  });
}

void neg(const Tensor& out, const Tensor& self) {
  record("NegBackward0", out, {self}, {},
         [](Backward&, const Tensor& g) -> Tensors { return {-g}; });
}

void trigamma(const Tensor& out, const Tensor& self) {
  from_input("PolygammaBackward0", out, self,
             [](const Tensor& g, const Tensor& x) {
               return g * hotaru::polygamma(2, x);
             });
}

void angle(const Tensor& out, const Tensor& self) {
  if (!self.is_complex()) return zero("AngleBackward0", out, self);
  from_input("AngleBackward0", out, self, [](const Tensor& g, const Tensor& x) {
    const Tensor length = hotaru::abs(x), none = eq(length, 0);
    const Tensor turned = g * x / harmless(length * length, none);
    return hotaru::masked_fill(
        hotaru::mul(turned, Scalar(std::complex<double>(0, 1))), none, 0);
  });
}

void sign(const Tensor& out, const Tensor& self) {
  if (!self.is_complex()) return zero("SignBackward0", out, self);
  // The unit number is turned only; along itself it keeps its length.
  record("SgnBackward0", out, {self}, {self, saved_output(out)},
         [](Backward& b, const Tensor& g) -> Tensors {
           const Tensor length = hotaru::abs(b.saved(0)), unit = b.saved(1);
           const Tensor along = hotaru::real(g * hotaru::conj(unit)) * unit;
           const Tensor none = eq(length, 0);
           return {hotaru::masked_fill((g - along) / harmless(length, none),
                                       none, 0)};
         });
}

void conj(const Tensor& out, const Tensor& self) {
  record(
      "ConjBackward0", out, {self}, {},
      [](Backward&, const Tensor& g) -> Tensors { return {hotaru::conj(g)}; });
}

void frac(const Tensor& out, const Tensor& self) {
  record("FracBackward0", out, {self}, {},
         [](Backward&, const Tensor& g) -> Tensors { return {g}; });
}

void zero(const char* name, const Tensor& out, const Tensor& self) {
  record(name, out, {self}, {},
         [](Backward&, const Tensor& g) -> Tensors { return {zeros_like(g)}; });
}

void zeros(std::string_view op, const Tensor& out, const Tensor& self,
           const Tensor& other) {
  std::string name;
  bool upper = true;
  for (const char c : op) {
    if (c != '_') name += upper ? char(std::toupper(c)) : c;
    upper = c == '_';
  }
  name += other.impl()->wrapped_number ? "Backward0" : "Backward1";
  // Either may be what is written: its shape is as it was.
  record(name.c_str(), out, {self, other}, {},
         [self = Like(self), other = Like(other)](Backward& b,
                                                  const Tensor& g) -> Tensors {
           const Tensor none = zeros_like(g);
           return {b.needs(0) ? self(none) : Tensor(),
                   b.needs(1) ? other(none) : Tensor()};
         });
}

namespace {

/// a + alpha * b with a sign for each.
void record_sum(const char* name, const Tensor& out, const Tensor& self,
                const Tensor& other, Scalar a, Scalar b) {
  const auto scaled = [](Scalar k) {
    return [k](const Tensor& g) {
      return k == Scalar(1) ? g : k == Scalar(-1) ? -g : g * conjugate(k);
    };
  };
  from_gradient(name, out, self, other, scaled(a), scaled(b));
}

}  // namespace

void add(const Tensor& out, const Tensor& self, const Tensor& other,
         const Scalar& alpha) {
  record_sum("AddBackward0", out, self, other, 1, alpha);
}
void sub(const Tensor& out, const Tensor& self, const Tensor& other,
         const Scalar& alpha) {
  record_sum("SubBackward0", out, self, other, 1, -alpha);
}
void rsub(const char* name, const Tensor& out, const Tensor& self,
          const Tensor& other, const Scalar& alpha) {
  record_sum(name, out, self, other, -alpha, 1);
}

void mul(const Tensor& out, const Tensor& self, const Tensor& other) {
  from_inputs<kSecond, kFirst>(
      "MulBackward0", out, self, other,
      [](auto& g, auto&, auto& b) { return g * hotaru::conj(b); },
      [](auto& g, auto& a, auto&) { return g * hotaru::conj(a); });
}

void div(const Tensor& out, const Tensor& self, const Tensor& other) {
  from_inputs<kSecond, kBoth>(
      "DivBackward0", out, self, other,
      [](auto& g, auto&, auto& b) { return g / hotaru::conj(b); },
      [](auto& g, auto& a, auto& b) {
        return -(g * hotaru::conj((a / b) / b));
      });
}

void div_rounded(const Tensor& out, const Tensor& self, const Tensor& other) {
  const auto nothing = [](const Tensor& g) { return zeros_like(g); };
  from_gradient("DivBackward2", out, self, other, nothing, nothing);
}

void remainder(const Tensor& out, const Tensor& self, const Tensor& other) {
  from_inputs<kNone, kBoth>(
      "RemainderBackward1", out, self, other,
      [](auto& g, auto&, auto&) { return g; },
      [](auto& g, auto& a, auto& b) {
        return -(g * hotaru::div(a, b, "floor"));
      });
}

void fmod(const Tensor& out, const Tensor& self, const Tensor& other) {
  from_inputs<kNone, kBoth>(
      "FmodBackward1", out, self, other,
      [](auto& g, auto&, auto&) { return g; },
      [](auto& g, auto& a, auto& b) {
        return -(g * hotaru::div(a, b, "trunc"));
      });
}

namespace {

/// Where an exponent is a real number that is not negative.
Tensor not_negative(const Tensor& b) {
  return b.is_complex()
             ? logical_and(ge(hotaru::real(b), 0), eq(hotaru::imag(b), 0))
             : ge(b, 0);
}

/// g b a^(b - 1), and 0 where b is. Its own derivative by b is a^(b - 1) there,
/// so that a pass that is recorded masks only what has none: a of 0 or NaN, or
/// next to 0.
Tensor pow_by_base(const Tensor& g, const Tensor& a, const Tensor& b) {
  Tensor none = eq(b, 0);
  if (autograd::grad_enabled())
    none = logical_and(none, logical_not(isfinite(hotaru::reciprocal(a))));
  const Tensor base = harmless(a, none);
  const Tensor exact = in_precision_of(g, b);
  const Tensor slope = exact * hotaru::pow(base, exact - 1);
  return hotaru::masked_fill(g * hotaru::conj(slope), none, 0);
}

/// g a^b log(a), and 0 where a is and b is not negative.
Tensor pow_by_exponent(const Tensor& g, const Tensor& a, const Tensor& b) {
  const Tensor none = logical_and(eq(a, 0), not_negative(b));
  const Tensor whole = harmless(a, none);
  const Tensor y = hotaru::pow(whole, b);
  const Tensor base =
      y.is_complex() ? to(whole, y.dtype()) : in_precision_of(y, whole);
  const Tensor slope = hotaru::log(base);
  return hotaru::masked_fill(g * hotaru::conj(y * slope), none, 0);
}

}  // namespace

void pow(const Tensor& out, const Tensor& self, const Tensor& exponent) {
  from_inputs<kBoth, kBoth>("PowBackward1", out, self, exponent, pow_by_base,
                            pow_by_exponent);
}

/// A number to the power of a tensor: the result times the number's logarithm,
/// and 0 where the number is and the exponent is not negative.
void pow_of_scalar(const Tensor& out, const Scalar& base,
                   const Tensor& exponent) {
  const Scalar slope = base.is_complex() ? Scalar(std::log(base.to_complex()))
                                         : Scalar(std::log(base.to_double()));
  record("PowBackward2", out, {exponent}, {saved_output(out), exponent},
         [base, slope](Backward& b, const Tensor& g) -> Tensors {
           const Tensor y = b.saved(0), x = b.saved(1);
           if (base != Scalar(0)) return {Like(x)(g * hotaru::conj(y * slope))};
           // 0, or infinite where the exponent is negative.
           const Tensor flow = hotaru::masked_fill(
               hotaru::conj(detach(y) * slope), not_negative(x), 0);
           return {flat_in(b, Like(x)(g * flow), 0)};
         });
}

/// An integer whose predecessor is the same number to any float.
bool is_smallest(const Scalar& exponent) {
  return exponent.is_integral() &&
         exponent.to_int() == std::numeric_limits<int64_t>::min();
}

void pow_scalar(const Tensor& out, const Tensor& self, const Scalar& exponent) {
  from_input(
      "PowBackward0", out, self, [exponent](const Tensor& g, const Tensor& x) {
        if (exponent == Scalar(0)) return zeros_like(g);
        const Scalar lower =
            exponent.is_complex()    ? Scalar(exponent.to_complex() - 1.0)
            : is_smallest(exponent)  ? exponent
            : exponent.is_integral() ? Scalar(exponent.to_int() - 1)
                                     : Scalar(exponent.to_double() - 1);
        // The slope's slope of a square is constant, but named after x.
        const bool linear = lower == Scalar(1) && !autograd::grad_enabled();
        const Tensor power = linear ? x : hotaru::pow(x, lower);
        return g * hotaru::conj(power * exponent);
      });
}

namespace {

/// The larger (smaller) operand gets the gradient, equal ones half each, and
/// both all of it where one is NaN.
template <class Wins>
void record_extremum(const char* name, const Tensor& out, const Tensor& self,
                     const Tensor& other, Wins wins) {
  const auto share = [](const Tensor& g, const Tensor& lost,
                        const Tensor& tie) {
    return hotaru::masked_fill(hotaru::where(tie, g / 2, g), lost, 0);
  };
  from_inputs<kBoth, kBoth>(
      name, out, self, other,
      [=](auto& g, auto& a, auto& b) { return share(g, wins(b, a), eq(a, b)); },
      [=](auto& g, auto& a, auto& b) {
        return share(g, wins(a, b), eq(a, b));
      });
}

const auto kGreater = [](const Tensor& a, const Tensor& b) { return gt(a, b); };
const auto kLess = [](const Tensor& a, const Tensor& b) { return lt(a, b); };

}  // namespace

void maximum(const Tensor& out, const Tensor& self, const Tensor& other) {
  record_extremum("MaximumBackward0", out, self, other, kGreater);
}
void minimum(const Tensor& out, const Tensor& self, const Tensor& other) {
  record_extremum("MinimumBackward0", out, self, other, kLess);
}

void fmax(const Tensor& out, const Tensor& self, const Tensor& other) {
  const auto first = [](const Tensor& a, const Tensor& b) {
    return logical_or(ge(a, b), isnan(b));
  };
  from_inputs<kBoth, kBoth>(
      "FmaxBackward0", out, self, other,
      [=](auto& g, auto& a, auto& b) { return masked(g, first(a, b)); },
      [=](auto& g, auto& a, auto& b) {
        return hotaru::masked_fill(g, first(a, b), 0);
      });
}
void fmin(const Tensor& out, const Tensor& self, const Tensor& other) {
  const auto first = [](const Tensor& a, const Tensor& b) {
    return logical_or(le(a, b), isnan(b));
  };
  from_inputs<kBoth, kBoth>(
      "FminBackward0", out, self, other,
      [=](auto& g, auto& a, auto& b) { return masked(g, first(a, b)); },
      [=](auto& g, auto& a, auto& b) {
        return hotaru::masked_fill(g, first(a, b), 0);
      });
}

void atan2(const Tensor& out, const Tensor& self, const Tensor& other) {
  const auto over_square = [](const Tensor& g, const Tensor& a,
                              const Tensor& b) {
    const Tensor square = a * a + b * b, none = eq(square, 0);
    return hotaru::masked_fill(g / harmless(square, none), none, 0);
  };
  from_inputs<kBoth, kBoth>(
      "Atan2Backward0", out, self, other,
      [=](auto& g, auto& a, auto& b) { return over_square(g, a, b) * b; },
      [=](auto& g, auto& a, auto& b) { return -(over_square(g, a, b) * a); });
}

void hypot(const Tensor& out, const Tensor& self, const Tensor& other) {
  record("HypotBackward0", out, {self, other},
         {if_wanted(self), if_wanted(other), saved_output(out)},
         [self = Like(self), other = Like(other)](Backward& b,
                                                  const Tensor& g) -> Tensors {
           const Tensor z = b.saved(2);
           return {b.needs(0) ? self(g * (b.saved(0) / z)) : Tensor(),
                   b.needs(1) ? other(g * (b.saved(1) / z)) : Tensor()};
         });
}

void xlogy(const Tensor& out, const Tensor& self, const Tensor& other) {
  from_inputs<kBoth, kBoth>(
      "XlogyBackward0", out, self, other,
      [](auto& g, auto& a, auto& b) {
        const Tensor none = logical_and(eq(a, 0), le(b, 0));
        const Tensor base = harmless(in_precision_of(g, b), none);
        return hotaru::masked_fill(g * hotaru::log(base), none, 0);
      },
      [](auto& g, auto& a, auto& b) { return g * a / b; });
}

namespace {
/// e^x / (e^x + 1).
Tensor share(const Tensor& x) {
  return x.is_complex() ? hotaru::reciprocal(hotaru::exp(-x) + 1)
                        : hotaru::sigmoid(x);
}
/// a - b; bools have no difference of their own.
Tensor apart(const Tensor& a, const Tensor& b) {
  const auto number = [](const Tensor& x) {
    return x.dtype() == DType::kBool ? to(x, DType::kUInt8) : x;
  };
  return number(a) - number(b);
}
}  // namespace

void logaddexp(const Tensor& out, const Tensor& self, const Tensor& other) {
  from_inputs<kBoth, kBoth>(
      "LogaddexpBackward0", out, self, other,
      [](auto& g, auto& a, auto& b) {
        return g * hotaru::conj(share(apart(a, b)));
      },
      [](auto& g, auto& a, auto& b) {
        return g * hotaru::conj(share(apart(b, a)));
      });
}

void logaddexp2(const Tensor& out, const Tensor& self, const Tensor& other) {
  const auto part = [](const Tensor& x) {
    return share(x * std::numbers::ln2);
  };
  from_inputs<kBoth, kBoth>(
      "Logaddexp2Backward0", out, self, other,
      [part](auto& g, auto& a, auto& b) { return g * part(apart(a, b)); },
      [part](auto& g, auto& a, auto& b) { return g * part(apart(b, a)); });
}

void copysign(const Tensor& out, const Tensor& self, const Tensor& other) {
  record("CopysignBackward0", out, {self, other},
         {if_wanted(self), saved_output(out)},
         [self = Like(self), other = Like(other)](Backward& b,
                                                  const Tensor& g) -> Tensors {
           const auto flipped = [&] {
             const Tensor x = b.saved(0), none = eq(x, 0);
             const Tensor ratio = b.saved(1) / harmless(x, none);
             return self(g * hotaru::masked_fill(ratio, none, 0));
           };
           return {b.needs(0) ? flipped() : Tensor(),
                   b.needs(1) ? other(zeros_like(g)) : Tensor()};
         });
}

void where(const Tensor& out, const Tensor& condition, const Tensor& self,
           const Tensor& other) {
  record("WhereBackward0", out, {condition, self, other}, {condition},
         [self = Like(self), other = Like(other)](Backward& b,
                                                  const Tensor& g) -> Tensors {
           const Tensor mask = b.saved(0);
           return {
               {},
               b.needs(1) ? self(masked(g, mask)) : Tensor(),
               b.needs(2) ? other(hotaru::masked_fill(g, mask, 0)) : Tensor()};
         });
}

void clamp(const Tensor& out, const Tensor& self, const Optional<Scalar>& min,
           const Optional<Scalar>& max) {
  from_input("ClampBackward1", out, self,
             [min, max](const Tensor& g, const Tensor& x) {
               Tensor inside = g;
               if (min) inside = masked(inside, ge(x, *min));
               if (max) inside = masked(inside, le(x, *max));
               return inside;
             });
}

void clamp(const Tensor& out, const Tensor& self, const Tensor& min,
           const Tensor& max) {
  const auto like = [&](const Tensor& t) {
    return Like(t.defined() ? t : self);
  };
  record(
      "ClampBackward0", out, {self, min, max}, {self, min, max},
      [self = Like(self), low = like(min), high = like(max)](
          Backward& b, const Tensor& g) -> Tensors {
        const Tensor x = b.saved(0), min = b.saved(1), max = b.saved(2);
        const bool both = min.defined() && max.defined();
        Tensors out(3);
        if (b.needs(0)) {
          Tensor inside = g;
          if (min.defined()) inside = masked(inside, ge(x, min));
          if (max.defined()) inside = masked(inside, le(x, max));
          out[0] = self(inside);
        }
        if (b.needs(1)) {
          const Tensor below = lt(x, min);
          out[1] =
              low(masked(g, both ? logical_and(lt(min, max), below) : below));
        }
        if (b.needs(2)) {
          const Tensor above = gt(x, max);
          out[2] =
              high(masked(g, both ? logical_or(gt(min, max), above) : above));
        }
        return out;
      });
}

void lerp(const char* name, const Tensor& out, const Tensor& self,
          const Tensor& end, const Tensor& weight) {
  const bool ends = needs_grad(self) || needs_grad(end);
  const bool weighed = needs_grad(weight);
  const Tensor a = weighed ? self : Tensor(), b = weighed ? end : Tensor();
  const Tensor w = ends ? weight : Tensor();
  record(name, out, {self, end, weight}, {a, b, w},
         [self = Like(self), end = Like(end), weight = Like(weight)](
             Backward& b, const Tensor& g) -> Tensors {
           const Tensor w = b.saved(2);
           return {
               b.needs(0) ? self(g * hotaru::conj(1 - in_precision_of(g, w)))
                          : Tensor(),
               b.needs(1) ? end(g * hotaru::conj(w)) : Tensor(),
               b.needs(2) ? weight(g * hotaru::conj(b.saved(1) - b.saved(0)))
                          : Tensor()};
         });
}

void addcmul(const Tensor& out, const Tensor& self, const Tensor& a,
             const Tensor& b, const Scalar& value) {
  const Tensor kept_a = needs_grad(b) ? a : Tensor();
  const Tensor kept_b = needs_grad(a) ? b : Tensor();
  record("AddcmulBackward0", out, {self, a, b}, {kept_a, kept_b},
         [value, self = Like(self), la = Like(a), lb = Like(b)](
             Backward& ctx, const Tensor& g) -> Tensors {
           const Tensor x = ctx.saved(0), y = ctx.saved(1);
           return {ctx.needs(0) ? self(g) : Tensor(),
                   ctx.needs(1) ? la(g * hotaru::conj(y * value)) : Tensor(),
                   ctx.needs(2) ? lb(g * hotaru::conj(x * value)) : Tensor()};
         });
}

void addcdiv(const Tensor& out, const Tensor& self, const Tensor& a,
             const Tensor& b, const Scalar& value) {
  const bool over = needs_grad(b);
  const Tensor kept_a = over ? a : Tensor();
  const Tensor kept_b = over || needs_grad(a) ? b : Tensor();
  record("AddcdivBackward0", out, {self, a, b}, {kept_a, kept_b},
         [value, self = Like(self), la = Like(a), lb = Like(b)](
             Backward& ctx, const Tensor& g) -> Tensors {
           const Tensor x = ctx.saved(0), y = ctx.saved(1);
           return {
               ctx.needs(0) ? self(g) : Tensor(),
               ctx.needs(1) ? la(g * conjugate(value) / hotaru::conj(y))
                            : Tensor(),
               ctx.needs(2)
                   ? lb(-(g * hotaru::conj(x * value) / hotaru::conj(y * y)))
                   : Tensor()};
         });
}

void masked_fill(const Tensor& out, const Tensor& self, const Tensor& mask) {
  record("MaskedFillBackward0", out, {self}, {mask},
         [self = Like(self)](Backward& b, const Tensor& g) -> Tensors {
           return {self(hotaru::masked_fill(g, b.saved(0), 0))};
         });
}

}  // namespace hotaru::grads
