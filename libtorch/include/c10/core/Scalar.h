// One number of any kind.
#pragma once

#include <complex>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include "c10/core/ScalarType.h"
#include "hotaru/core/scalar.h"

namespace c10 {

/// A number that keeps the kind it was written in, as promotion depends on it.
class Scalar {
 public:
  Scalar() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> ||
                                              hotaru::kIsReduced<T>>>
  Scalar(T value) : value_(stored(value)) {}
  template <class T>
  Scalar(std::complex<T> value) : value_(std::complex<double>(value)) {}
  explicit Scalar(const hotaru::Scalar& value) : value_(value) {}

  friend const hotaru::Scalar& to_hotaru(const Scalar& scalar) {
    return scalar.value_;
  }

  /// The value as T. Throws PyTorch's text where T cannot hold it.
  template <class T>
  T to() const {
    check_fits(CppTypeToScalarType<T>::value);
    return value_.to<T>();
  }
  float toFloat() const { return to<float>(); }
  double toDouble() const { return to<double>(); }
  int toInt() const { return to<int>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  bool toBool() const { return to<bool>(); }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }
  std::complex<float> toComplexFloat() const {
    return to<std::complex<float>>();
  }
  std::complex<double> toComplexDouble() const {
    return to<std::complex<double>>();
  }
  int64_t toSymInt() const { return toLong(); }

  bool isBoolean() const { return value_.is_bool(); }
  bool isIntegral(bool includeBool) const {
    return value_.is_integral() && (includeBool || !value_.is_bool());
  }
  bool isFloatingPoint() const {
    return value_.kind() == hotaru::Scalar::Kind::kDouble;
  }
  bool isComplex() const { return value_.is_complex(); }
  bool isSymbolic() const { return false; }
  /// Double, ComplexDouble, Long or Bool.
  ScalarType type() const;

  Scalar operator-() const { return Scalar(-value_); }
  Scalar conj() const { return Scalar(std::conj(value_.to_complex())); }
  template <class T>
  bool equal(T number) const {
    return value_ == hotaru::Scalar(stored(number));
  }

 private:
  template <class T>
  static auto stored(T value) {
    if constexpr (std::is_same_v<T, bool>)
      return value;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(value);
    else
      return static_cast<double>(value);
  }
  void check_fits(ScalarType type) const;

  hotaru::Scalar value_;
};

std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace c10

namespace at {
using c10::Scalar;
}
