// Formulas of one operand.
#pragma once

#include "hotaru/backend/common/pointwise/arithmetic.h"

namespace hotaru::formulas {

#define HOTARU_FORMULA_1(Name, expression) \
  template <class T> \
  struct Name { \
    HOTARU_INLINE T operator()(T x) const { return T(expression); } \
  }
HOTARU_FORMULA_1(Neg, negated(x));
HOTARU_FORMULA_1(Sqrt, lib::sqrt(x));
HOTARU_FORMULA_1(Rsqrt, T(1) / lib::sqrt(x));
HOTARU_FORMULA_1(Reciprocal, divide(T(1), x));
HOTARU_FORMULA_1(Exp, vmath::exp(x));
HOTARU_FORMULA_1(Exp2, vmath::exp2(x));
HOTARU_FORMULA_1(Expm1, vmath::expm1(x));
HOTARU_FORMULA_1(Log, vmath::log(x));
HOTARU_FORMULA_1(Log2, vmath::log2(x));
HOTARU_FORMULA_1(Log10, vmath::log10(x));
HOTARU_FORMULA_1(Log1p, vmath::log1p(x));
HOTARU_FORMULA_1(Asin, vmath::asin(x));
HOTARU_FORMULA_1(Acos, vmath::acos(x));
HOTARU_FORMULA_1(Atan, vmath::atan(x));
HOTARU_FORMULA_1(Sinh, vmath::sinh(x));
HOTARU_FORMULA_1(Cosh, vmath::cosh(x));
HOTARU_FORMULA_1(Tanh, vmath::tanh(x));
HOTARU_FORMULA_1(Asinh, lib::asinh(x));
HOTARU_FORMULA_1(Acosh, lib::acosh(x));
HOTARU_FORMULA_1(Atanh, vmath::atanh(x));
HOTARU_FORMULA_1(Erf, vmath::erf(x));
HOTARU_FORMULA_1(Erfc, vmath::erfc(x));
HOTARU_FORMULA_1(Lgamma, std::lgamma(x));
HOTARU_FORMULA_1(Sigmoid, vmath::sigmoid(x));
HOTARU_FORMULA_1(Floor, std::floor(x));
HOTARU_FORMULA_1(Ceil, std::ceil(x));
HOTARU_FORMULA_1(Round, std::nearbyint(x));
HOTARU_FORMULA_1(Trunc, std::trunc(x));
HOTARU_FORMULA_1(Frac, x - std::trunc(x));
#undef HOTARU_FORMULA_1

// Formulas with a quick form that holds for most arguments: loops take that
// for all of a run, and the whole formula only where quick() says no.
#define HOTARU_ANGLE_FORMULA(Name, function) \
  template <class T> \
  struct Name { \
    HOTARU_INLINE T operator()(T x) const { \
      if constexpr (std::is_same_v<T, float> && vmath::kQuick) \
        if (holds(x)) return quick(x); \
      return lib::function(x); \
    } \
    HOTARU_INLINE static bool holds(float x) { \
      return std::fabs(x) <= vmath::kMostAngle; \
    } \
    HOTARU_INLINE static float quick(float x) { return vmath::function(x); } \
  }
HOTARU_ANGLE_FORMULA(Sin, sin);
HOTARU_ANGLE_FORMULA(Cos, cos);
HOTARU_ANGLE_FORMULA(Tan, tan);
#undef HOTARU_ANGLE_FORMULA

/// The modulus; of a complex number a real.
template <class T>
struct Abs {
  HOTARU_INLINE auto operator()(T x) const {
    if constexpr (kIsComplex<T>)
      return lib::abs(x);
    else if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (kIsInteger<T>)
      return x < 0 ? negated(x) : x;
    else
      return std::fabs(x);
  }
};

/// -1, 0 or 1; x / |x| of a complex number.
template <class T>
struct Sign {
  HOTARU_INLINE T operator()(T x) const {
    if constexpr (kIsComplex<T>)
      return x == T(0) ? T(0) : x / lib::abs(x);
    else
      return T((T(0) < x) - (x < T(0)));
  }
};

/// Other numbers in place of NaN and of both infinities.
template <class T>
struct NanToNum {
  T nan, high, low;
  explicit NanToNum(const PointwiseNumbers& n)
      : nan(n.a.to<T>()), high(n.b.to<T>()), low(n.c.to<T>()) {}
  HOTARU_INLINE T operator()(T x) const {
    constexpr T kInf = std::numeric_limits<T>::infinity();
    const T y = x == kInf ? high : x == -kInf ? low : x;
    return x != x ? nan : y;
  }
};

/// max(x, 0); NaN stays.
template <class T>
struct Relu {
  HOTARU_INLINE T operator()(T x) const { return x < T(0) ? T(0) : x; }
};

template <class T>
struct Conj {
  HOTARU_INLINE T operator()(T x) const { return lib::conj(x); }
};
template <class T>
struct Angle {
  HOTARU_INLINE auto operator()(T x) const {
    if constexpr (std::is_same_v<T, std::complex<float>> && vmath::kQuick)
      return vmath::atan2(x.imag(), x.real());
    else if constexpr (kIsComplex<T>)
      return lib::arg(x);
    else
      return x != x ? x : x < 0 ? T(3.14159265358979323846) : T(0);
  }
};

}  // namespace hotaru::formulas
