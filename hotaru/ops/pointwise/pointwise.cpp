// Elementwise operators of two and three operands.
#include "hotaru/ops/pointwise/pointwise.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/pointwise/refusal.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/pointwise/complex_elementary.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

using autograd::needs_grad;
using elementwise::binary;
using elementwise::binary_into;
using elementwise::Compute;
using elementwise::operand;
using elementwise::Result;
using elementwise::Spec;
using elementwise::ternary;
using elementwise::unary;

const Spec kAdd{kernel("add")};
const Spec kMul{.kernel = kernel("mul"), .keeps_number = true};
const Spec kDiv{.kernel = kernel("div"),
                .compute = Compute::kFloating,
                .keeps_number = true};
const Spec kDivTrunc{.kernel = kernel("div_trunc"), .keeps_number = true};
const Spec kDivFloor{.kernel = kernel("div_floor"), .keeps_number = true};
const Spec kPow{kernel("pow")};
const Spec kPowScalar{kernel("pow_scalar")};
const Spec kLerp{.kernel = kernel("lerp"), .keeps_number = true};
const Spec kAddcmul{kernel("addcmul")};
const Spec kAddcdiv{kernel("addcdiv"), Compute::kFloating};

/// alpha as an element of the result's dtype. Apart, as most are 1.
[[gnu::noinline]] Scalar rounded_alpha(const Tensor& a, const Tensor& b,
                                       const Scalar& alpha) {
  const DType dtype = result_type({a, b});
  HOTARU_CHECK(!is_floating_point(dtype) || !alpha.is_complex(),
               "For non-complex input tensors, argument alpha must not be a "
               "complex number.");
  check_factor("alpha", dtype, alpha);
  return as_element(alpha, dtype);
}

Scalar factor(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  const bool one = alpha.kind() == Scalar::Kind::kInt && alpha.to_int() == 1;
  return one ? alpha : rounded_alpha(a, b, alpha);
}

void check_sub(const Tensor& a, const Tensor& b) {
  HOTARU_CHECK(a.dtype() != DType::kBool || b.dtype() != DType::kBool,
               "Subtraction, the `-` operator, with two bool tensors is not "
               "supported. Use the `^` or `logical_xor()` operator instead.");
  HOTARU_CHECK(a.dtype() != DType::kBool && b.dtype() != DType::kBool,
               "Subtraction, the `-` operator, with a bool tensor is not "
               "supported. If you are trying to invert a mask, use the `~` or "
               "`logical_not()` operator instead.");
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  Tensor out = binary(kAdd, self, other, {factor(self, other, alpha)});
  if (needs_grad(self, other)) grads::add(out, self, other, alpha);
  return out;
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_sub(self, other);
  Tensor out = binary(kAdd, self, other, {-factor(self, other, alpha)});
  if (needs_grad(self, other)) grads::sub(out, self, other, alpha);
  return out;
}

Tensor mul(const Tensor& self, const Tensor& other) {
  Tensor out = binary(kMul, self, other);
  if (needs_grad(self, other)) grads::mul(out, self, other);
  return out;
}

Tensor div(const Tensor& self, const Tensor& other,
           const std::string& rounding_mode) {
  if (rounding_mode.empty()) {
    Tensor out = binary(kDiv, self, other);
    if (needs_grad(self, other)) grads::div(out, self, other);
    return out;
  }
  HOTARU_CHECK(rounding_mode == "trunc" || rounding_mode == "floor",
               "div expected rounding_mode to be one of None, 'trunc', or "
               "'floor' but found '",
               rounding_mode, "'");
  Tensor out =
      binary(rounding_mode == "trunc" ? kDivTrunc : kDivFloor, self, other);
  if (needs_grad(self, other)) grads::div_rounded(out, self, other);
  return out;
}

Tensor floor_divide(const Tensor& self, const Tensor& other, const char* op) {
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    out = div(self, other, "floor");
  }
  refuse_gradient(op, out, {self, other});
  return out;
}

Tensor pow(const Tensor& self, const Tensor& exponent) {
  HOTARU_CHECK(!exponent.impl()->wrapped_number || exponent.is_complex() ||
                   !is_integral(self.dtype()) ||
                   !is_integral(exponent.dtype()) ||
                   host_value(exponent, "a Python number").to_int() >= 0,
               "Integers to negative integer powers are not allowed.");
  Tensor out = binary(kPow, self, exponent);
  if (needs_grad(self, exponent)) grads::pow(out, self, exponent);
  return out;
}

/// Powers of real numbers that have a kernel of their own.
static const Spec* root_spec(DType dtype, const Scalar& exponent) {
  static const Spec kSqrt{kernel("sqrt")}, kRsqrt{kernel("rsqrt")};
  if (!is_floating_point(dtype) || exponent.is_complex()) return nullptr;
  const double n = exponent.to_double();
  return n == 0.5 ? &kSqrt : n == -0.5 ? &kRsqrt : nullptr;
}

Tensor pow(const Tensor& self, const Scalar& exponent) {
  HOTARU_CHECK(!is_integral(self.dtype(), true) || !exponent.is_integral() ||
                   exponent.to_int() >= 0,
               "Integers to negative integer powers are not allowed.");
  Tensor base = self;
  const DType dtype = result_type({self, operand(exponent, self)});
  // No kernel has powers of bools, and none needs them.
  if (dtype == DType::kBool)
    return exponent.to_int() ? clone(self) : full_like(self, true);
  if (dtype != self.dtype()) base = to(self, dtype);
  const Spec* const root = root_spec(dtype, exponent);
  Tensor out = root ? unary(*root, base)
                    : unary(kPowScalar, base, {as_element(exponent, dtype)});
  if (needs_grad(base)) grads::pow_scalar(out, base, exponent);
  return out;
}

Tensor pow(const Scalar& base, const Tensor& exponent) {
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    out = pow(operand(base, exponent), exponent);
  }
  if (needs_grad(exponent)) grads::pow_of_scalar(out, base, exponent);
  return out;
}

namespace {

Tensor reversed(const char* node, const Tensor& self, const Tensor& other,
                const Scalar& alpha) {
  check_sub(other, self);
  Tensor out = binary(kAdd, other, self, {-factor(other, self, alpha)});
  if (needs_grad(self, other)) grads::rsub(node, out, self, other, alpha);
  return out;
}

}  // namespace

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const bool number = other.impl()->wrapped_number;
  return reversed(number ? "RsubBackward1" : "RsubBackward0", self, other,
                  alpha);
}
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return rsub(self, operand(other, self), alpha);
}

// With a number: it becomes a zero-dimensional operand that yields in
// promotion.
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return add(self, operand(other, self), alpha);
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return sub(self, operand(other, self), alpha);
}
Tensor mul(const Tensor& self, const Scalar& other) {
  return mul(self, operand(other, self));
}
Tensor div(const Tensor& self, const Scalar& other) {
  return div(self, operand(other, self));
}

Tensor add_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  binary_into(kAdd, self, self, other, {factor(self, other, alpha)});
  if (needs_grad(self, other)) grads::add(self, self, other, alpha);
  self.bump_version();
  return self;
}

Tensor sub_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_sub(self, other);
  binary_into(kAdd, self, self, other, {-factor(self, other, alpha)});
  if (needs_grad(self, other)) grads::sub(self, self, other, alpha);
  self.bump_version();
  return self;
}

// The gradient to the other operand needs what is overwritten.
Tensor mul_(const Tensor& self, const Tensor& other) {
  if (needs_grad(other))
    return in_place(self, [&](const Tensor& x) { return mul(x, other); });
  binary_into(kMul, self, self, other);
  if (needs_grad(self, other)) grads::mul(self, self, other);
  self.bump_version();
  return self;
}
Tensor mul_(const Tensor& self, const Scalar& other) {
  return mul_(self, operand(other, self));
}

Tensor div_(const Tensor& self, const Tensor& other) {
  if (needs_grad(other))
    return in_place(self, [&](const Tensor& x) { return div(x, other); });
  binary_into(kDiv, self, self, other);
  if (needs_grad(self, other)) grads::div(self, self, other);
  self.bump_version();
  return self;
}

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  HOTARU_CHECK(
      condition.dtype() == DType::kBool || condition.dtype() == DType::kUInt8,
      "where expected condition to be a boolean tensor, but got a "
      "tensor with dtype ",
      scalar_type_name(condition.dtype()));
  if (condition.dtype() == DType::kUInt8) {
    warn(
        "where received a uint8 condition tensor. This behavior is deprecated "
        "and will be removed in a future version of PyTorch. Use a boolean "
        "condition instead.");
    return where(to(condition, DType::kBool), self, other);
  }
  const DType dtype = result_type({self, other});
  Dims shape = broadcast_shapes(self.sizes(), other.sizes());
  shape = broadcast_shapes(shape, condition.sizes());
  static const Kernel& k = kernel("where");
  const Tensor* const all[] = {&condition, &self, &other};
  const Tensor out = elementwise::allocate_result(all, shape, dtype);
  {
    const autograd::NoGrad no_grad;
    const Tensor x = to(self, dtype), y = to(other, dtype);
    enqueue(k, {write(out), read(condition), read(x), read(y)});
  }
  if (needs_grad(self, other)) grads::where(out, condition, self, other);
  return out;
}

void check_mask(const Tensor& mask) {
  HOTARU_CHECK(mask.dtype() == DType::kBool,
               "masked_fill_ only supports boolean masks, but got mask with "
               "dtype ",
               cpp_type_name(mask.dtype()));
}

Tensor masked_fill(const Tensor& self, const Tensor& mask,
                   const Scalar& value) {
  check_mask(mask);
  check_bound(self.dtype(), value);
  static const Kernel& k = kernel("where");
  const Dims shape = broadcast_shapes(self.sizes(), mask.sizes());
  Tensor out = empty(shape, TensorOptions(self));
  const Tensor filler = full({}, value, TensorOptions(self));
  enqueue(k, {write(out), read(mask), read(filler), read(self)});
  if (needs_grad(self)) grads::masked_fill(out, self, mask);
  return out;
}

namespace {

void check_lerp(const Tensor& self, const char* name, const Tensor& other) {
  HOTARU_CHECK(self.dtype() == other.dtype(), "expected dtype ",
               cpp_type_name(self.dtype()), " for `", name, "` but got dtype ",
               cpp_type_name(other.dtype()));
}

}  // namespace

Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  check_lerp(self, "end", end);
  if (weight.dim() > 0) check_lerp(self, "weight", weight);
  Tensor out = ternary(kLerp, self, end, weight);
  if (needs_grad(self, end, weight))
    grads::lerp("LerpBackward1", out, self, end, weight);
  return out;
}

Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  check_lerp(self, "end", end);
  check_inexact("lerp_kernel_scalar", self);
  const Tensor w = operand(weight, self);
  Tensor out = ternary(kLerp, self, end, w);
  if (needs_grad(self, end)) grads::lerp("LerpBackward0", out, self, end, w);
  return out;
}

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  if (!all_hold(value))
    check_holds(result_type({self, tensor1, tensor2}), value);
  Tensor out = ternary(kAddcmul, self, tensor1, tensor2, {value});
  if (needs_grad(self, tensor1, tensor2))
    grads::addcmul(out, self, tensor1, tensor2, value);
  return out;
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  HOTARU_CHECK(
      is_differentiable(tensor1.dtype()) || is_differentiable(tensor2.dtype()),
      "Integer division with addcdiv is no longer supported, and in a "
      "future  release addcdiv will perform a true division of "
      "tensor1 and tensor2. The historic addcdiv behavior can be "
      "implemented as (input + value * torch.trunc(tensor1 / "
      "tensor2)).to(input.dtype) for integer inputs and as (input + "
      "value * tensor1 / tensor2) for float inputs. The future "
      "addcdiv behavior is just the latter implementation: (input + "
      "value * tensor1 / tensor2), for all dtypes.");
  Tensor out = ternary(kAddcdiv, self, tensor1, tensor2, {value});
  if (needs_grad(self, tensor1, tensor2))
    grads::addcdiv(out, self, tensor1, tensor2, value);
  return out;
}

namespace {
const Spec logaddexp_spec{kernel("logaddexp"), Compute::kSame, Result::kSame};
}
Tensor logaddexp(const Tensor& self, const Tensor& other) {
  Tensor out;
  if (self.is_complex() || other.is_complex()) {
    const DType dtype = result_type({self, other});
    out = elementary::complex_logaddexp(to(untracked(self), dtype),
                                        to(untracked(other), dtype));
  } else {
    out = binary(logaddexp_spec, self, other);
  }
  if (needs_grad(self, other)) grads::logaddexp(out, self, other);
  return out;
}
HOTARU_OP("logaddexp(Tensor self, Tensor other) -> Tensor", logaddexp);

}  // namespace hotaru
