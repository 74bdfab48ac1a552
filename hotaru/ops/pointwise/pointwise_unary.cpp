// Elementwise operators of one operand: a table.
#include <cmath>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/pointwise/complex_elementary.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

using autograd::needs_grad;
using elementwise::Compute;
using elementwise::Result;
using elementwise::Spec;
using elementwise::unary;
using elementwise::unary_into;

enum Reads { kInput, kOutput };

}  // namespace

/// The function, the in-place function and their registrations. `reads` says
/// what the gradient is made of: kOutput, or kInput, which an in-place call
/// has to keep.
#define HOTARU_UNARY(name, compute, result, gradient, reads) \
  HOTARU_UNARY_OR(name, compute, result, gradient, reads, nullptr)

/// The same with a function for complex operands, which have no kernel.
#define HOTARU_UNARY_OR(name, compute, result, gradient, reads, of_complex) \
  namespace { \
  constexpr Tensor (*name##_of_complex)(const Tensor&) = of_complex; \
  const Spec name##_spec{kernel(#name), Compute::compute, Result::result}; \
  constexpr grads::UnaryGrad name##_grad = gradient; \
  } \
  Tensor name(const Tensor& self) { \
    Tensor out = name##_of_complex && self.is_complex() \
                     ? name##_of_complex(self) \
                     : unary(name##_spec, self); \
    if (name##_grad && needs_grad(self)) name##_grad(out, self); \
    return out; \
  } \
  namespace { \
  Tensor name##_in_place(const Tensor& self) { \
    HOTARU_CHECK(Result::result != Result::kReal || !self.is_complex(), \
                 "In-place " #name " is not supported for complex tensors."); \
    if ((reads == kInput && needs_grad(self)) || \
        (name##_of_complex && self.is_complex())) \
      return in_place(self, [](const Tensor& x) { return name(x); }); \
    unary_into(name##_spec, self, self); \
    if (needs_grad(self)) { \
      if (name##_grad) \
        name##_grad(self, self); \
      else \
        grads::zero("LogicalNotBackward0", self, self); \
    } \
    self.bump_version(); \
    return self; \
  } \
  } \
  HOTARU_OP( \
      #name "(Tensor self) -> Tensor", \
      +[](const Tensor& self) { return name(self); }); \
  HOTARU_OP(#name "_(Tensor(a!) self) -> Tensor(a!)", name##_in_place);

HOTARU_UNARY(abs, kSame, kReal, grads::abs, kInput)
HOTARU_UNARY(sqrt, kFloating, kSame, grads::sqrt, kOutput)
HOTARU_UNARY(rsqrt, kFloating, kSame, grads::rsqrt, kOutput)
HOTARU_UNARY(reciprocal, kFloating, kSame, grads::reciprocal, kOutput)
HOTARU_UNARY(exp, kFloating, kSame, grads::exp, kOutput)
HOTARU_UNARY_OR(exp2, kFloating, kSame, grads::exp2, kOutput,
                elementary::complex_exp2)
HOTARU_UNARY_OR(expm1, kFloating, kSame, grads::expm1, kOutput,
                elementary::complex_expm1)
HOTARU_UNARY(log, kFloating, kSame, grads::log, kInput)
HOTARU_UNARY_OR(log2, kFloating, kSame, grads::log2, kInput,
                elementary::complex_log2)
HOTARU_UNARY(log10, kFloating, kSame, grads::log10, kInput)
HOTARU_UNARY_OR(log1p, kFloating, kSame, grads::log1p, kInput,
                elementary::complex_log1p)
HOTARU_UNARY(sin, kFloating, kSame, grads::sin, kInput)
HOTARU_UNARY(cos, kFloating, kSame, grads::cos, kInput)
HOTARU_UNARY(tan, kFloating, kSame, grads::tan, kOutput)
HOTARU_UNARY(asin, kFloating, kSame, grads::asin, kInput)
HOTARU_UNARY(acos, kFloating, kSame, grads::acos, kInput)
HOTARU_UNARY(atan, kFloating, kSame, grads::atan, kInput)
HOTARU_UNARY(sinh, kFloating, kSame, grads::sinh, kInput)
HOTARU_UNARY(cosh, kFloating, kSame, grads::cosh, kInput)
HOTARU_UNARY(tanh, kFloating, kSame, grads::tanh, kOutput)
HOTARU_UNARY(asinh, kFloating, kSame, grads::asinh, kInput)
HOTARU_UNARY(acosh, kFloating, kSame, grads::acosh, kInput)
HOTARU_UNARY(atanh, kFloating, kSame, grads::atanh, kInput)
HOTARU_UNARY(erf, kFloating, kSame, grads::erf, kInput)
HOTARU_UNARY(erfc, kFloating, kSame, grads::erfc, kInput)
HOTARU_UNARY(lgamma, kFloating, kSame, grads::lgamma, kInput)
HOTARU_UNARY(digamma, kFloating, kSame, grads::digamma, kInput)
HOTARU_UNARY(trigamma, kFloating, kSame, grads::trigamma, kInput)
HOTARU_UNARY(sigmoid, kFloating, kSame, grads::sigmoid, kOutput)
HOTARU_UNARY(relu, kSame, kSame, grads::relu, kOutput)
HOTARU_UNARY(logical_not, kSame, kBool, nullptr, kOutput)
HOTARU_UNARY(bitwise_not, kSame, kSame, nullptr, kOutput)
HOTARU_UNARY(isnan, kSame, kBool, nullptr, kOutput)
HOTARU_UNARY(isinf, kSame, kBool, nullptr, kOutput)
HOTARU_UNARY(angle, kFloating, kReal, grads::angle, kInput)
HOTARU_UNARY(frac, kSame, kSame, grads::frac, kOutput)

namespace {

/// Piecewise constant functions: integers stay as they are, gradients are 0.

Tensor step(const Spec& spec, const char* node, const Tensor& self) {
  const bool whole = is_integral(self.dtype());
  Tensor out = whole ? clone(self) : unary(spec, self);
  if (needs_grad(self)) grads::zero(node, out, self);
  return out;
}

Tensor step_in_place(const Spec& spec, const char* node, const Tensor& self) {
  if (!is_integral(self.dtype())) unary_into(spec, self, self);
  if (needs_grad(self)) grads::zero(node, self, self);
  self.bump_version();
  return self;
}

}  // namespace

#define HOTARU_STEP(name, node) \
  namespace { \
  const Spec name##_spec{kernel(#name)}; \
  } \
  Tensor name(const Tensor& self) { \
    return step(name##_spec, node, self); \
  } \
  HOTARU_OP( \
      #name "(Tensor self) -> Tensor", \
      +[](const Tensor& self) { return name(self); }); \
  HOTARU_OP( \
      #name "_(Tensor(a!) self) -> Tensor(a!)", +[](const Tensor& self) { \
        return step_in_place(name##_spec, node, self); \
      });

HOTARU_STEP(floor, "FloorBackward0")
HOTARU_STEP(ceil, "CeilBackward0")
HOTARU_STEP(round, "RoundBackward0")
HOTARU_STEP(trunc, "TruncBackward0")

namespace {

const Spec kNeg{kernel("neg")}, kSign{kernel("sign")}, kConj{kernel("conj")};

void check_neg(const Tensor& self) {
  HOTARU_CHECK(self.dtype() != DType::kBool,
               "Negation, the `-` operator, on a bool tensor is not supported. "
               "If you are trying to invert a mask, use the `~` or "
               "`logical_not()` operator instead.");
}

}  // namespace

Tensor neg(const Tensor& self) {
  check_neg(self);
  Tensor out = unary(kNeg, self);
  if (needs_grad(self)) grads::neg(out, self);
  return out;
}

Tensor sign(const Tensor& self) {
  if (self.dtype() == DType::kBool) return clone(self);
  Tensor out = unary(kSign, self);
  if (needs_grad(self)) grads::sign(out, self);
  return out;
}

Tensor conj(const Tensor& self) {
  if (!self.is_complex()) return self;
  if (self.impl()->wrapped_number) {
    // A number stays one, in its full precision.
    const Tensor out = unary(kConj, make_alias(self));
    out.impl()->wrapped_number = true;
    return out;
  }
  Tensor out = unary(kConj, self);
  if (needs_grad(self)) grads::conj(out, self);
  return out;
}

Tensor square(const Tensor& self) {
  return pow(self, Scalar(2));
}

Tensor isfinite(const Tensor& self) {
  return logical_not(logical_or(isnan(self), isinf(self)));
}

namespace {

HOTARU_OP("neg(Tensor self) -> Tensor", neg);
HOTARU_OP(
    "neg_(Tensor(a!) self) -> Tensor(a!)", +[](const Tensor& self) {
      check_neg(self);
      unary_into(kNeg, self, self);
      if (needs_grad(self)) grads::neg(self, self);
      self.bump_version();
      return self;
    });
Tensor sign_of_real(const Tensor& self) {
  HOTARU_CHECK_AS(NotImplementedError, !self.is_complex(),
                  "Unlike NumPy, torch.sign is not intended to support "
                  "complex numbers. Please use torch.sgn instead.");
  return sign(self);
}
HOTARU_WITH_IN_PLACE("sign", "(Tensor", " self)", sign_of_real);
HOTARU_WITH_IN_PLACE("sgn", "(Tensor", " self)", sign);
HOTARU_OP("conj(Tensor(a) self) -> Tensor(a)", conj);
HOTARU_OP("_conj(Tensor(a) self) -> Tensor(a)", conj);
HOTARU_WITH_IN_PLACE("conj_physical", "(Tensor", " self)", conj);
HOTARU_OP(
    "resolve_conj(Tensor(a) self) -> Tensor(a)",
    +[](const Tensor& self) { return self; });
HOTARU_OP(
    "resolve_neg(Tensor(a) self) -> Tensor(a)",
    +[](const Tensor& self) { return self; });
HOTARU_WITH_IN_PLACE("square", "(Tensor", " self)", square);
HOTARU_OP("isfinite(Tensor self) -> Tensor", isfinite);
HOTARU_OP(
    "positive(Tensor(a) self) -> Tensor(a)", +[](const Tensor& self) {
      HOTARU_CHECK(self.dtype() != DType::kBool,
                   "The `+` operator, on a bool tensor is not supported.");
      return self;
    });
HOTARU_OP("absolute(Tensor self) -> Tensor", abs);
HOTARU_OP("negative(Tensor self) -> Tensor", neg);
Tensor round_to(const Tensor& self, int64_t decimals) {
  check_floating("round_cpu", self);
  // Factors of 16-bit numbers may be more than these hold.
  if (itemsize(self.dtype()) < 4)
    return to(round_to(to(self, DType::kFloat32), decimals), self.dtype());
  const double scale = std::pow(10.0, double(std::abs(decimals)));
  return decimals < 0 ? mul(round(div(self, scale)), scale)
                      : div(round(mul(self, scale)), scale);
}
HOTARU_OP("round.decimals(Tensor self, *, int decimals) -> Tensor", round_to);
HOTARU_OP("round_.decimals(Tensor(a!) self, *, int decimals) -> Tensor(a!)",
          InPlace<&round_to>::call);

}  // namespace
}  // namespace hotaru
