// Gradients of the elementwise operators of two and three tensors.
#include "hotaru/ops/pointwise/pointwise_grad.h"

#include <cctype>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grads {
namespace {

using autograd::Backward;
using autograd::needs_grad;
using autograd::record;
using autograd::saved_output;

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

}  // namespace

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
  // A negative number has a logarithm where the result is complex.
  const bool complex =
      base.is_complex() || (out.is_complex() && base.to_double() < 0);
  const Scalar slope = complex ? Scalar(std::log(base.to_complex()))
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
