// Elementwise operators: promotion, broadcasting, gradients.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

// Arithmetic. Results have the promoted dtype of the operands.
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor mul(const Tensor& self, const Tensor& other);
/// True division: integers give the default dtype. rounding_mode: "",
/// "trunc" or "floor".
Tensor div(const Tensor& self, const Tensor& other,
           const std::string& rounding_mode = "");
/// div(rounding_mode="floor") without a gradient: backward() names `op`.
Tensor floor_divide(const Tensor& self, const Tensor& other,
                    const char* op = "floor_divide");
Tensor remainder(const Tensor& self, const Tensor& other);
Tensor fmod(const Tensor& self, const Tensor& other);
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor maximum(const Tensor& self, const Tensor& other);
Tensor minimum(const Tensor& self, const Tensor& other);
Tensor atan2(const Tensor& self, const Tensor& other);
Tensor hypot(const Tensor& self, const Tensor& other);
/// self * log(other), and 0 where self is 0.
Tensor xlogy(const Tensor& self, const Tensor& other);

// With a number, which yields to the tensor's dtype.
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
Tensor mul(const Tensor& self, const Scalar& other);
Tensor div(const Tensor& self, const Scalar& other);
Tensor pow(const Tensor& self, const Scalar& exponent);
/// other - self, base ** exponent, 1 / self.
/// other - alpha * self.
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor pow(const Scalar& base, const Tensor& exponent);
Tensor reciprocal(const Tensor& self);

// In place; return self.
Tensor add_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor sub_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor mul_(const Tensor& self, const Tensor& other);
Tensor mul_(const Tensor& self, const Scalar& other);
Tensor div_(const Tensor& self, const Tensor& other);

// Comparison; results are bool.
Tensor eq(const Tensor& self, const Tensor& other);
Tensor ne(const Tensor& self, const Tensor& other);
Tensor lt(const Tensor& self, const Tensor& other);
Tensor le(const Tensor& self, const Tensor& other);
Tensor gt(const Tensor& self, const Tensor& other);
Tensor ge(const Tensor& self, const Tensor& other);
Tensor eq(const Tensor& self, const Scalar& other);
Tensor ne(const Tensor& self, const Scalar& other);
Tensor lt(const Tensor& self, const Scalar& other);
Tensor le(const Tensor& self, const Scalar& other);
Tensor gt(const Tensor& self, const Scalar& other);
Tensor ge(const Tensor& self, const Scalar& other);
Tensor logical_not(const Tensor& self);
Tensor logical_and(const Tensor& self, const Tensor& other);
Tensor logical_or(const Tensor& self, const Tensor& other);
Tensor logical_xor(const Tensor& self, const Tensor& other);
Tensor bitwise_and(const Tensor& self, const Tensor& other);
Tensor bitwise_or(const Tensor& self, const Tensor& other);
Tensor bitwise_xor(const Tensor& self, const Tensor& other);
Tensor bitwise_not(const Tensor& self);
Tensor gcd(const Tensor& self, const Tensor& other);
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other);
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other);
Tensor isnan(const Tensor& self);
Tensor isinf(const Tensor& self);
Tensor isfinite(const Tensor& self);

// One operand.
Tensor neg(const Tensor& self);
Tensor abs(const Tensor& self);
Tensor sign(const Tensor& self);
Tensor sqrt(const Tensor& self);
Tensor rsqrt(const Tensor& self);
Tensor square(const Tensor& self);
Tensor exp(const Tensor& self);
Tensor exp2(const Tensor& self);
Tensor expm1(const Tensor& self);
Tensor log(const Tensor& self);
Tensor log2(const Tensor& self);
Tensor log10(const Tensor& self);
Tensor log1p(const Tensor& self);
Tensor sin(const Tensor& self);
Tensor cos(const Tensor& self);
Tensor tan(const Tensor& self);
Tensor asin(const Tensor& self);
Tensor acos(const Tensor& self);
Tensor atan(const Tensor& self);
Tensor sinh(const Tensor& self);
Tensor cosh(const Tensor& self);
Tensor tanh(const Tensor& self);
Tensor asinh(const Tensor& self);
Tensor acosh(const Tensor& self);
Tensor atanh(const Tensor& self);
Tensor erf(const Tensor& self);
Tensor erfc(const Tensor& self);
/// Derivatives of log gamma: lgamma' = digamma, digamma' = trigamma.
Tensor lgamma(const Tensor& self);
Tensor digamma(const Tensor& self);
Tensor trigamma(const Tensor& self);
Tensor sigmoid(const Tensor& self);
Tensor relu(const Tensor& self);
Tensor floor(const Tensor& self);
Tensor ceil(const Tensor& self);
Tensor round(const Tensor& self);
Tensor trunc(const Tensor& self);
/// Complex conjugate, computed at once; reals are returned as they are.
Tensor conj(const Tensor& self);

// Three operands and limits.
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor clamp(const Tensor& self, const Optional<Scalar>& min,
             const Optional<Scalar>& max);
Tensor clamp_(const Tensor& self, const Optional<Scalar>& min,
              const Optional<Scalar>& max);
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
/// The same in place, by a tensor of one number.
Tensor masked_fill_(const Tensor& self, const Tensor& mask,
                    const Tensor& value);
/// Throws unless the mask of a masked_fill is one of bools.
void check_mask(const Tensor& mask);

/// The dtype of an operation on these operands under PyTorch's rules: whole
/// tensors count before zero-dimensional ones, and those before numbers.
DType result_type(std::initializer_list<Tensor> operands);
DType result_type(const Tensors& operands);

}  // namespace hotaru
