// Elementwise operators of one operand.
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

/// The tensor that a gradient is made of; an operator in place has to keep its
/// input.
enum Reads { kInput, kOutput };

/// An operator of one tensor: its kernel, which has its name, its gradient, if
/// it has one, and a function for complex operands where the kernel has none.
struct UnaryOperator {
  Spec spec;
  grads::UnaryGrad gradient = nullptr;
  Reads reads = kOutput;
  Tensor (*of_complex)(const Tensor&) = nullptr;

  Tensor operator()(const Tensor& self) const {
    Tensor out =
        of_complex && self.is_complex() ? of_complex(self) : unary(spec, self);
    if (gradient && needs_grad(self)) gradient(out, self);
    return out;
  }

  Tensor in_place(const Tensor& self) const {
    HOTARU_CHECK(spec.result != Result::kReal || !self.is_complex(),
                 "In-place ", spec.kernel.name(),
                 " is not supported for complex tensors.");
    if ((reads == kInput && needs_grad(self)) ||
        (of_complex && self.is_complex()))
      return hotaru::in_place(self,
                              [&](const Tensor& x) { return (*this)(x); });
    unary_into(spec, self, self);
    if (needs_grad(self)) {
      if (gradient)
        gradient(self, self);
      else
        grads::zero("LogicalNotBackward0", self, self);
    }
    self.bump_version();
    return self;
  }
};

}  // namespace

/// Registers an operator and its form in place.
#define HOTARU_UNARY(name, op) \
  HOTARU_OP( \
      name "(Tensor self) -> Tensor", \
      +[](const Tensor& self) { return op(self); }); \
  HOTARU_OP( \
      name "_(Tensor(a!) self) -> Tensor(a!)", \
      +[](const Tensor& self) { return op.in_place(self); });

const UnaryOperator kAbs{
    {.kernel = kernel("abs"), .result = Result::kReal}, grads::abs, kInput};
Tensor abs(const Tensor& self) {
  return kAbs(self);
}
HOTARU_UNARY("abs", kAbs)

const UnaryOperator kSqrt{
    {kernel("sqrt"), Compute::kFloating}, grads::sqrt, kOutput};
Tensor sqrt(const Tensor& self) {
  return kSqrt(self);
}
HOTARU_UNARY("sqrt", kSqrt)

const UnaryOperator kRsqrt{
    {kernel("rsqrt"), Compute::kFloating}, grads::rsqrt, kOutput};
Tensor rsqrt(const Tensor& self) {
  return kRsqrt(self);
}
HOTARU_UNARY("rsqrt", kRsqrt)

const UnaryOperator kReciprocal{
    {kernel("reciprocal"), Compute::kFloating}, grads::reciprocal, kOutput};
Tensor reciprocal(const Tensor& self) {
  return kReciprocal(self);
}
HOTARU_UNARY("reciprocal", kReciprocal)

const UnaryOperator kExp{
    {kernel("exp"), Compute::kFloating}, grads::exp, kOutput};
Tensor exp(const Tensor& self) {
  return kExp(self);
}
HOTARU_UNARY("exp", kExp)

const UnaryOperator kExp2{{kernel("exp2"), Compute::kFloating},
                          grads::exp2,
                          kOutput,
                          elementary::complex_exp2};
Tensor exp2(const Tensor& self) {
  return kExp2(self);
}
HOTARU_UNARY("exp2", kExp2)

const UnaryOperator kExpm1{{kernel("expm1"), Compute::kFloating},
                           grads::expm1,
                           kOutput,
                           elementary::complex_expm1};
Tensor expm1(const Tensor& self) {
  return kExpm1(self);
}
HOTARU_UNARY("expm1", kExpm1)

const UnaryOperator kLog{
    {kernel("log"), Compute::kFloating}, grads::log, kInput};
Tensor log(const Tensor& self) {
  return kLog(self);
}
HOTARU_UNARY("log", kLog)

const UnaryOperator kLog2{{kernel("log2"), Compute::kFloating},
                          grads::log2,
                          kInput,
                          elementary::complex_log2};
Tensor log2(const Tensor& self) {
  return kLog2(self);
}
HOTARU_UNARY("log2", kLog2)

const UnaryOperator kLog10{
    {kernel("log10"), Compute::kFloating}, grads::log10, kInput};
Tensor log10(const Tensor& self) {
  return kLog10(self);
}
HOTARU_UNARY("log10", kLog10)

const UnaryOperator kLog1p{{kernel("log1p"), Compute::kFloating},
                           grads::log1p,
                           kInput,
                           elementary::complex_log1p};
Tensor log1p(const Tensor& self) {
  return kLog1p(self);
}
HOTARU_UNARY("log1p", kLog1p)

const UnaryOperator kSin{
    {kernel("sin"), Compute::kFloating}, grads::sin, kInput};
Tensor sin(const Tensor& self) {
  return kSin(self);
}
HOTARU_UNARY("sin", kSin)

const UnaryOperator kCos{
    {kernel("cos"), Compute::kFloating}, grads::cos, kInput};
Tensor cos(const Tensor& self) {
  return kCos(self);
}
HOTARU_UNARY("cos", kCos)

const UnaryOperator kTan{
    {kernel("tan"), Compute::kFloating}, grads::tan, kOutput};
Tensor tan(const Tensor& self) {
  return kTan(self);
}
HOTARU_UNARY("tan", kTan)

const UnaryOperator kAsin{
    {kernel("asin"), Compute::kFloating}, grads::asin, kInput};
Tensor asin(const Tensor& self) {
  return kAsin(self);
}
HOTARU_UNARY("asin", kAsin)

const UnaryOperator kAcos{
    {kernel("acos"), Compute::kFloating}, grads::acos, kInput};
Tensor acos(const Tensor& self) {
  return kAcos(self);
}
HOTARU_UNARY("acos", kAcos)

const UnaryOperator kAtan{
    {kernel("atan"), Compute::kFloating}, grads::atan, kInput};
Tensor atan(const Tensor& self) {
  return kAtan(self);
}
HOTARU_UNARY("atan", kAtan)

const UnaryOperator kSinh{
    {kernel("sinh"), Compute::kFloating}, grads::sinh, kInput};
Tensor sinh(const Tensor& self) {
  return kSinh(self);
}
HOTARU_UNARY("sinh", kSinh)

const UnaryOperator kCosh{
    {kernel("cosh"), Compute::kFloating}, grads::cosh, kInput};
Tensor cosh(const Tensor& self) {
  return kCosh(self);
}
HOTARU_UNARY("cosh", kCosh)

const UnaryOperator kTanh{
    {kernel("tanh"), Compute::kFloating}, grads::tanh, kOutput};
Tensor tanh(const Tensor& self) {
  return kTanh(self);
}
HOTARU_UNARY("tanh", kTanh)

const UnaryOperator kAsinh{
    {kernel("asinh"), Compute::kFloating}, grads::asinh, kInput};
Tensor asinh(const Tensor& self) {
  return kAsinh(self);
}
HOTARU_UNARY("asinh", kAsinh)

const UnaryOperator kAcosh{
    {kernel("acosh"), Compute::kFloating}, grads::acosh, kInput};
Tensor acosh(const Tensor& self) {
  return kAcosh(self);
}
HOTARU_UNARY("acosh", kAcosh)

const UnaryOperator kAtanh{
    {kernel("atanh"), Compute::kFloating}, grads::atanh, kInput};
Tensor atanh(const Tensor& self) {
  return kAtanh(self);
}
HOTARU_UNARY("atanh", kAtanh)

const UnaryOperator kErf{
    {kernel("erf"), Compute::kFloating}, grads::erf, kInput};
Tensor erf(const Tensor& self) {
  return kErf(self);
}
HOTARU_UNARY("erf", kErf)

const UnaryOperator kErfc{
    {kernel("erfc"), Compute::kFloating}, grads::erfc, kInput};
Tensor erfc(const Tensor& self) {
  return kErfc(self);
}
HOTARU_UNARY("erfc", kErfc)

const UnaryOperator kLgamma{
    {kernel("lgamma"), Compute::kFloating}, grads::lgamma, kInput};
Tensor lgamma(const Tensor& self) {
  return kLgamma(self);
}
HOTARU_UNARY("lgamma", kLgamma)

const UnaryOperator kDigamma{
    {kernel("digamma"), Compute::kFloating}, grads::digamma, kInput};
Tensor digamma(const Tensor& self) {
  return kDigamma(self);
}
HOTARU_UNARY("digamma", kDigamma)

const UnaryOperator kTrigamma{
    {kernel("trigamma"), Compute::kFloating}, grads::trigamma, kInput};
Tensor trigamma(const Tensor& self) {
  return kTrigamma(self);
}
HOTARU_UNARY("trigamma", kTrigamma)

const UnaryOperator kSigmoid{
    {kernel("sigmoid"), Compute::kFloating}, grads::sigmoid, kOutput};
Tensor sigmoid(const Tensor& self) {
  return kSigmoid(self);
}
HOTARU_UNARY("sigmoid", kSigmoid)

const UnaryOperator kRelu{{kernel("relu")}, grads::relu, kOutput};
Tensor relu(const Tensor& self) {
  return kRelu(self);
}
HOTARU_UNARY("relu", kRelu)

const UnaryOperator kLogicalNot{
    {.kernel = kernel("logical_not"), .result = Result::kBool}};
Tensor logical_not(const Tensor& self) {
  return kLogicalNot(self);
}
HOTARU_UNARY("logical_not", kLogicalNot)

const UnaryOperator kBitwiseNot{{kernel("bitwise_not")}};
Tensor bitwise_not(const Tensor& self) {
  return kBitwiseNot(self);
}
HOTARU_UNARY("bitwise_not", kBitwiseNot)

const UnaryOperator kIsnan{
    {.kernel = kernel("isnan"), .result = Result::kBool}};
Tensor isnan(const Tensor& self) {
  return kIsnan(self);
}
HOTARU_UNARY("isnan", kIsnan)

const UnaryOperator kIsinf{
    {.kernel = kernel("isinf"), .result = Result::kBool}};
Tensor isinf(const Tensor& self) {
  return kIsinf(self);
}
HOTARU_UNARY("isinf", kIsinf)

const UnaryOperator kAngle{{.kernel = kernel("angle"),
                            .compute = Compute::kFloating,
                            .result = Result::kReal},
                           grads::angle,
                           kInput};
Tensor angle(const Tensor& self) {
  return kAngle(self);
}
HOTARU_UNARY("angle", kAngle)

const UnaryOperator kFrac{{kernel("frac")}, grads::frac, kOutput};
Tensor frac(const Tensor& self) {
  return kFrac(self);
}
HOTARU_UNARY("frac", kFrac)

namespace {

/// A piecewise constant function: integers stay as they are, gradients are 0.
struct Step {
  Spec spec;
  const char* node;

  Tensor operator()(const Tensor& self) const {
    const bool whole = is_integral(self.dtype());
    Tensor out = whole ? clone(self) : unary(spec, self);
    if (needs_grad(self)) grads::zero(node, out, self);
    return out;
  }

  Tensor in_place(const Tensor& self) const {
    if (!is_integral(self.dtype())) unary_into(spec, self, self);
    if (needs_grad(self)) grads::zero(node, self, self);
    self.bump_version();
    return self;
  }
};

}  // namespace

const Step kFloor{{kernel("floor")}, "FloorBackward0"};
Tensor floor(const Tensor& self) {
  return kFloor(self);
}
HOTARU_UNARY("floor", kFloor)

const Step kCeil{{kernel("ceil")}, "CeilBackward0"};
Tensor ceil(const Tensor& self) {
  return kCeil(self);
}
HOTARU_UNARY("ceil", kCeil)

const Step kRound{{kernel("round")}, "RoundBackward0"};
Tensor round(const Tensor& self) {
  return kRound(self);
}
HOTARU_UNARY("round", kRound)

const Step kTrunc{{kernel("trunc")}, "TruncBackward0"};
Tensor trunc(const Tensor& self) {
  return kTrunc(self);
}
HOTARU_UNARY("trunc", kTrunc)

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
HOTARU_OP(
    "special_round(Tensor self, *, int decimals=0) -> Tensor",
    +[](const Tensor& self, int64_t decimals) {
      return decimals == 0 ? round(self) : round_to(self, decimals);
    });
HOTARU_OP("round_.decimals(Tensor(a!) self, *, int decimals) -> Tensor(a!)",
          InPlace<&round_to>::call);

}  // namespace
}  // namespace hotaru
