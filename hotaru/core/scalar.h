// One number of Python's types: bool, int, float or complex.
#pragma once

#include <complex>
#include <cstdint>
#include <ostream>

#include "hotaru/core/dtype.h"

namespace hotaru {

/// A number that keeps the kind it was written in, as promotion depends on it.
class Scalar {
 public:
  enum class Kind : uint8_t { kBool, kInt, kDouble, kComplex };

  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool value) : kind_(Kind::kBool), int_(value) {}
  Scalar(int64_t value) : kind_(Kind::kInt), int_(value) {}
  Scalar(int value) : Scalar(int64_t{value}) {}
  Scalar(double value) : kind_(Kind::kDouble), double_(value) {}
  Scalar(float value) : Scalar(double{value}) {}
  Scalar(std::complex<double> value)
      : kind_(Kind::kComplex), double_(value.real()), imag_(value.imag()) {}

  Kind kind() const { return kind_; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  /// bool counts as an integer here, as in Python.
  bool is_integral() const { return kind_ <= Kind::kInt; }
  bool is_complex() const { return kind_ == Kind::kComplex; }

  /// The dtype promotion starts from: bool, int64, the default dtype or the
  /// complex type of the default dtype.
  DType dtype() const;

  /// The value as T, converted as static_cast does; a complex number with an
  /// imaginary part is an error for a real T.
  template <class T>
  T to() const {
    if constexpr (kIsComplex<T>) {
      using R = typename T::value_type;
      return is_complex() ? T(R(double_), R(imag_)) : T(R(to_double()), R(0));
    } else {
      if (is_complex()) check_real();
      if (kind_ <= Kind::kInt) {
        if constexpr (kIsReduced<T>)
          return T(float(int_));
        else
          return static_cast<T>(int_);
      }
      if constexpr (kIsReduced<T>)
        return T(float(double_));
      else if constexpr (kIsBool<T> || std::is_same_v<T, bool>)
        return double_ != 0;
      else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(truncated(double_));
      else
        return static_cast<T>(double_);
    }
  }
  double to_double() const { return to<double>(); }
  int64_t to_int() const { return to<int64_t>(); }
  std::complex<double> to_complex() const { return to<std::complex<double>>(); }

 private:
  void check_real() const;

  Kind kind_;
  union {
    int64_t int_;
    double double_;
  };
  double imag_ = 0;
};

Scalar operator-(const Scalar& value);
bool operator==(const Scalar& a, const Scalar& b);
std::ostream& operator<<(std::ostream& out, const Scalar& value);

}  // namespace hotaru
