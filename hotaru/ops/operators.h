// Arithmetic operators on tensors, for formulas and for C++ users.
#pragma once

#include "hotaru/ops/pointwise/pointwise.h"

namespace hotaru {

inline Tensor operator+(const Tensor& a, const Tensor& b) {
  return add(a, b);
}
inline Tensor operator-(const Tensor& a, const Tensor& b) {
  return sub(a, b);
}
inline Tensor operator*(const Tensor& a, const Tensor& b) {
  return mul(a, b);
}
inline Tensor operator/(const Tensor& a, const Tensor& b) {
  return div(a, b);
}
inline Tensor operator+(const Tensor& a, const Scalar& b) {
  return add(a, b);
}
inline Tensor operator-(const Tensor& a, const Scalar& b) {
  return sub(a, b);
}
inline Tensor operator*(const Tensor& a, const Scalar& b) {
  return mul(a, b);
}
inline Tensor operator/(const Tensor& a, const Scalar& b) {
  return div(a, b);
}
inline Tensor operator+(const Scalar& a, const Tensor& b) {
  return add(b, a);
}
inline Tensor operator-(const Scalar& a, const Tensor& b) {
  return rsub(b, a);
}
inline Tensor operator*(const Scalar& a, const Tensor& b) {
  return mul(b, a);
}
inline Tensor operator/(const Scalar& a, const Tensor& b) {
  return mul(reciprocal(b), a);
}
inline Tensor operator-(const Tensor& a) {
  return neg(a);
}

}  // namespace hotaru
