// Elementwise operators of two operands with nothing special.
#include "hotaru/autograd/record.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

using autograd::needs_grad;
using elementwise::Compute;
using elementwise::operand;
using elementwise::Result;
using elementwise::Spec;

/// An operator of two tensors: its kernel, which has its name, and its
/// gradient, if it has one.
struct BinaryOperator {
  Spec spec;
  grads::BinaryGrad gradient = nullptr;

  Tensor operator()(const Tensor& self, const Tensor& other) const {
    Tensor out = elementwise::binary(spec, self, other);
    if (gradient && needs_grad(self, other)) gradient(out, self, other);
    return out;
  }

  Tensor in_place(const Tensor& self, const Tensor& other) const {
    if (gradient && needs_grad(self, other))
      return hotaru::in_place(
          self, [&](const Tensor& x) { return (*this)(x, other); });
    elementwise::binary_into(spec, self, self, other);
    if (needs_grad(self, other))
      grads::zeros(spec.kernel.name(), self, self, other);
    self.bump_version();
    return self;
  }
};

}  // namespace

/// Registers an operator and its form in place; `tensor` names the overload.
#define HOTARU_BINARY_AS(name, tensor, op) \
  HOTARU_OP( \
      name tensor "(Tensor self, Tensor other) -> Tensor", \
      +[](const Tensor& a, const Tensor& b) { return op(a, b); }); \
  HOTARU_OP( \
      name "_" tensor "(Tensor(a!) self, Tensor other) -> Tensor(a!)", \
      +[](const Tensor& a, const Tensor& b) { return op.in_place(a, b); });

#define HOTARU_BINARY(name, op) HOTARU_BINARY_AS(name, "", op)

/// The same with overloads Tensor and `scalar` for the second operand.
#define HOTARU_BINARY_SCALAR(name, scalar, op) \
  HOTARU_BINARY_AS(name, ".Tensor", op) \
  HOTARU_OP( \
      name scalar "(Tensor self, Scalar other) -> Tensor", \
      +[](const Tensor& a, const Scalar& b) { return op(a, operand(b, a)); }); \
  HOTARU_OP( \
      name "_" scalar "(Tensor(a!) self, Scalar other) -> Tensor(a!)", \
      +[](const Tensor& a, const Scalar& b) { \
        return op.in_place(a, operand(b, a)); \
      });

/// And the number first.
#define HOTARU_BITS(name, scalar, op) \
  HOTARU_BINARY_SCALAR(name, scalar, op) \
  HOTARU_OP( \
      name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", \
      +[](const Scalar& a, const Tensor& b) { return op(operand(a, b), b); });

const BinaryOperator kRemainder{{kernel("remainder")}, grads::remainder};
Tensor remainder(const Tensor& self, const Tensor& other) {
  return kRemainder(self, other);
}
HOTARU_BINARY_SCALAR("remainder", ".Scalar", kRemainder)

const BinaryOperator kFmod{{kernel("fmod")}, grads::fmod};
Tensor fmod(const Tensor& self, const Tensor& other) {
  return kFmod(self, other);
}
HOTARU_BINARY_SCALAR("fmod", ".Scalar", kFmod)

const BinaryOperator kEq{{.kernel = kernel("eq"), .result = Result::kBool}};
Tensor eq(const Tensor& self, const Tensor& other) {
  return kEq(self, other);
}
Tensor eq(const Tensor& self, const Scalar& other) {
  return eq(self, operand(other, self));
}
HOTARU_BINARY_SCALAR("eq", ".Scalar", kEq)

const BinaryOperator kNe{{.kernel = kernel("ne"), .result = Result::kBool}};
Tensor ne(const Tensor& self, const Tensor& other) {
  return kNe(self, other);
}
Tensor ne(const Tensor& self, const Scalar& other) {
  return ne(self, operand(other, self));
}
HOTARU_BINARY_SCALAR("ne", ".Scalar", kNe)

const BinaryOperator kLt{{.kernel = kernel("lt"), .result = Result::kBool}};
Tensor lt(const Tensor& self, const Tensor& other) {
  return kLt(self, other);
}
Tensor lt(const Tensor& self, const Scalar& other) {
  return lt(self, operand(other, self));
}
HOTARU_BINARY_SCALAR("lt", ".Scalar", kLt)

const BinaryOperator kLe{{.kernel = kernel("le"), .result = Result::kBool}};
Tensor le(const Tensor& self, const Tensor& other) {
  return kLe(self, other);
}
Tensor le(const Tensor& self, const Scalar& other) {
  return le(self, operand(other, self));
}
HOTARU_BINARY_SCALAR("le", ".Scalar", kLe)

const BinaryOperator kGt{{.kernel = kernel("gt"), .result = Result::kBool}};
Tensor gt(const Tensor& self, const Tensor& other) {
  return kGt(self, other);
}
Tensor gt(const Tensor& self, const Scalar& other) {
  return gt(self, operand(other, self));
}
HOTARU_BINARY_SCALAR("gt", ".Scalar", kGt)

const BinaryOperator kGe{{.kernel = kernel("ge"), .result = Result::kBool}};
Tensor ge(const Tensor& self, const Tensor& other) {
  return kGe(self, other);
}
Tensor ge(const Tensor& self, const Scalar& other) {
  return ge(self, operand(other, self));
}
HOTARU_BINARY_SCALAR("ge", ".Scalar", kGe)

const BinaryOperator kBitwiseAnd{{kernel("bitwise_and")}};
Tensor bitwise_and(const Tensor& self, const Tensor& other) {
  return kBitwiseAnd(self, other);
}
HOTARU_BITS("bitwise_and", ".Scalar", kBitwiseAnd)

const BinaryOperator kBitwiseOr{{kernel("bitwise_or")}};
Tensor bitwise_or(const Tensor& self, const Tensor& other) {
  return kBitwiseOr(self, other);
}
HOTARU_BITS("bitwise_or", ".Scalar", kBitwiseOr)

const BinaryOperator kBitwiseXor{{kernel("bitwise_xor")}};
Tensor bitwise_xor(const Tensor& self, const Tensor& other) {
  return kBitwiseXor(self, other);
}
HOTARU_BITS("bitwise_xor", ".Scalar", kBitwiseXor)

const BinaryOperator kMaximum{{kernel("maximum")}, grads::maximum};
Tensor maximum(const Tensor& self, const Tensor& other) {
  return kMaximum(self, other);
}
HOTARU_BINARY("maximum", kMaximum)

const BinaryOperator kMinimum{{kernel("minimum")}, grads::minimum};
Tensor minimum(const Tensor& self, const Tensor& other) {
  return kMinimum(self, other);
}
HOTARU_BINARY("minimum", kMinimum)

const BinaryOperator kLogicalAnd{
    {.kernel = kernel("logical_and"), .result = Result::kBool}};
Tensor logical_and(const Tensor& self, const Tensor& other) {
  return kLogicalAnd(self, other);
}
HOTARU_BINARY("logical_and", kLogicalAnd)

const BinaryOperator kLogicalOr{
    {.kernel = kernel("logical_or"), .result = Result::kBool}};
Tensor logical_or(const Tensor& self, const Tensor& other) {
  return kLogicalOr(self, other);
}
HOTARU_BINARY("logical_or", kLogicalOr)

const BinaryOperator kLogicalXor{
    {.kernel = kernel("logical_xor"), .result = Result::kBool}};
Tensor logical_xor(const Tensor& self, const Tensor& other) {
  return kLogicalXor(self, other);
}
HOTARU_BINARY("logical_xor", kLogicalXor)

const BinaryOperator kAtan2{{kernel("atan2"), Compute::kFloating},
                            grads::atan2};
Tensor atan2(const Tensor& self, const Tensor& other) {
  return kAtan2(self, other);
}
HOTARU_BINARY("atan2", kAtan2)

const BinaryOperator kFmax{{kernel("fmax")}, grads::fmax};
Tensor fmax(const Tensor& self, const Tensor& other) {
  return kFmax(self, other);
}
HOTARU_BINARY("fmax", kFmax)

const BinaryOperator kFmin{{kernel("fmin")}, grads::fmin};
Tensor fmin(const Tensor& self, const Tensor& other) {
  return kFmin(self, other);
}
HOTARU_BINARY("fmin", kFmin)

const BinaryOperator kHypot{{kernel("hypot")}, grads::hypot};
Tensor hypot(const Tensor& self, const Tensor& other) {
  return kHypot(self, other);
}
HOTARU_BINARY("hypot", kHypot)

const BinaryOperator kGcd{{kernel("gcd")}};
Tensor gcd(const Tensor& self, const Tensor& other) {
  return kGcd(self, other);
}
HOTARU_BINARY("gcd", kGcd)

const BinaryOperator kCopysign{{kernel("copysign"), Compute::kFloating},
                               grads::copysign};
Tensor copysign(const Tensor& self, const Tensor& other) {
  return kCopysign(self, other);
}
HOTARU_BINARY_SCALAR("copysign", ".Scalar", kCopysign)

const BinaryOperator kXlogy{{kernel("xlogy"), Compute::kFloating},
                            grads::xlogy};
Tensor xlogy(const Tensor& self, const Tensor& other) {
  return kXlogy(self, other);
}
HOTARU_BINARY_SCALAR("xlogy", ".Scalar_Other", kXlogy)
HOTARU_OP(
    "xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
    +[](const Scalar& self, const Tensor& other) {
      return xlogy(operand(self, other), other);
    });

const BinaryOperator kBitwiseLeftShift{{kernel("bitwise_left_shift")}};
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) {
  return kBitwiseLeftShift(self, other);
}
HOTARU_BITS("bitwise_left_shift", ".Tensor_Scalar", kBitwiseLeftShift)

const BinaryOperator kBitwiseRightShift{{kernel("bitwise_right_shift")}};
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) {
  return kBitwiseRightShift(self, other);
}
HOTARU_BITS("bitwise_right_shift", ".Tensor_Scalar", kBitwiseRightShift)

}  // namespace hotaru
