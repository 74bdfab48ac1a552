// Gradients of the elementwise operators: one function an operator, called
// when it has to be recorded. `out` may be `self`, written in place.
#pragma once

#include <string_view>

#include "hotaru/ops/boxing.h"

namespace hotaru::grads {

using UnaryGrad = void (*)(const Tensor& out, const Tensor& self);
using BinaryGrad = void (*)(const Tensor& out, const Tensor& self,
                            const Tensor& other);

void neg(const Tensor& out, const Tensor& self);
void abs(const Tensor& out, const Tensor& self);
void sqrt(const Tensor& out, const Tensor& self);
void rsqrt(const Tensor& out, const Tensor& self);
void reciprocal(const Tensor& out, const Tensor& self);
void exp(const Tensor& out, const Tensor& self);
void exp2(const Tensor& out, const Tensor& self);
void expm1(const Tensor& out, const Tensor& self);
void log(const Tensor& out, const Tensor& self);
void log2(const Tensor& out, const Tensor& self);
void log10(const Tensor& out, const Tensor& self);
void log1p(const Tensor& out, const Tensor& self);
void sin(const Tensor& out, const Tensor& self);
void cos(const Tensor& out, const Tensor& self);
void tan(const Tensor& out, const Tensor& self);
void asin(const Tensor& out, const Tensor& self);
void acos(const Tensor& out, const Tensor& self);
void atan(const Tensor& out, const Tensor& self);
void sinh(const Tensor& out, const Tensor& self);
void cosh(const Tensor& out, const Tensor& self);
void tanh(const Tensor& out, const Tensor& self);
void asinh(const Tensor& out, const Tensor& self);
void acosh(const Tensor& out, const Tensor& self);
void atanh(const Tensor& out, const Tensor& self);
void erf(const Tensor& out, const Tensor& self);
void erfc(const Tensor& out, const Tensor& self);
void sigmoid(const Tensor& out, const Tensor& self);
void relu(const Tensor& out, const Tensor& self);
void lgamma(const Tensor& out, const Tensor& self);
void digamma(const Tensor& out, const Tensor& self);
void trigamma(const Tensor& out, const Tensor& self);
void angle(const Tensor& out, const Tensor& self);
void conj(const Tensor& out, const Tensor& self);
void frac(const Tensor& out, const Tensor& self);
/// For piecewise constant functions; named per operator.
void zero(const char* name, const Tensor& out, const Tensor& self);
/// The same of two operands, for what is written in place: comparisons, logic.
/// `op` names the operator: "eq" gives EqBackward1, EqBackward0 of a number.
void zeros(std::string_view op, const Tensor& out, const Tensor& self,
           const Tensor& other);

void add(const Tensor& out, const Tensor& self, const Tensor& other,
         const Scalar& alpha);
void sub(const Tensor& out, const Tensor& self, const Tensor& other,
         const Scalar& alpha);
void rsub(const char* name, const Tensor& out, const Tensor& self,
          const Tensor& other, const Scalar& alpha);
void mul(const Tensor& out, const Tensor& self, const Tensor& other);
void div(const Tensor& out, const Tensor& self, const Tensor& other);
void div_rounded(const Tensor& out, const Tensor& self, const Tensor& other);
void remainder(const Tensor& out, const Tensor& self, const Tensor& other);
void fmod(const Tensor& out, const Tensor& self, const Tensor& other);
void pow(const Tensor& out, const Tensor& self, const Tensor& exponent);
void pow_scalar(const Tensor& out, const Tensor& self, const Scalar& exponent);
void pow_of_scalar(const Tensor& out, const Scalar& base,
                   const Tensor& exponent);
void maximum(const Tensor& out, const Tensor& self, const Tensor& other);
void minimum(const Tensor& out, const Tensor& self, const Tensor& other);
void atan2(const Tensor& out, const Tensor& self, const Tensor& other);
void hypot(const Tensor& out, const Tensor& self, const Tensor& other);
void xlogy(const Tensor& out, const Tensor& self, const Tensor& other);
void logaddexp(const Tensor& out, const Tensor& self, const Tensor& other);
void logaddexp2(const Tensor& out, const Tensor& self, const Tensor& other);
void sign(const Tensor& out, const Tensor& self);
void sinc(const Tensor& out, const Tensor& self);
void copysign(const Tensor& out, const Tensor& self, const Tensor& other);
void fmax(const Tensor& out, const Tensor& self, const Tensor& other);
void fmin(const Tensor& out, const Tensor& self, const Tensor& other);

void where(const Tensor& out, const Tensor& condition, const Tensor& self,
           const Tensor& other);
void clamp(const Tensor& out, const Tensor& self, const Optional<Scalar>& min,
           const Optional<Scalar>& max);
/// Limits that are tensors, one of which may be undefined.
void clamp(const Tensor& out, const Tensor& self, const Tensor& min,
           const Tensor& max);
void lerp(const char* name, const Tensor& out, const Tensor& self,
          const Tensor& end, const Tensor& weight);
void addcmul(const Tensor& out, const Tensor& self, const Tensor& a,
             const Tensor& b, const Scalar& value);
void addcdiv(const Tensor& out, const Tensor& self, const Tensor& a,
             const Tensor& b, const Scalar& value);
void masked_fill(const Tensor& out, const Tensor& self, const Tensor& mask);

}  // namespace hotaru::grads
