// Formulas with truth values and bits.
#pragma once

#include "hotaru/backend/common/pointwise/arithmetic.h"

namespace hotaru {
/// Types that have bits for bitwise operators.
using BitTypes = TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t, Bool>;
}  // namespace hotaru

namespace hotaru::formulas {

#define HOTARU_FORMULA_2(Name, Result, expression) \
  template <class T> \
  struct Name { \
    HOTARU_INLINE Result operator()(T x, T y) const { return expression; } \
  }
HOTARU_FORMULA_2(Eq, bool, x == y);
HOTARU_FORMULA_2(Ne, bool, x != y);
HOTARU_FORMULA_2(Lt, bool, x < y);
HOTARU_FORMULA_2(Le, bool, x <= y);
HOTARU_FORMULA_2(Gt, bool, x > y);
HOTARU_FORMULA_2(Ge, bool, x >= y);
HOTARU_FORMULA_2(LogicalAnd, bool, x != T(0) && y != T(0));
HOTARU_FORMULA_2(LogicalOr, bool, x != T(0) || y != T(0));
HOTARU_FORMULA_2(LogicalXor, bool, (x != T(0)) != (y != T(0)));
HOTARU_FORMULA_2(BitAnd, T, T(x& y));
HOTARU_FORMULA_2(BitOr, T, T(x | y));
HOTARU_FORMULA_2(BitXor, T, T(x ^ y));
#undef HOTARU_FORMULA_2

/// A shift by the width or more gives 0, or the sign for negative values.
template <class T>
struct ShiftLeft {
  HOTARU_INLINE T operator()(T x, T y) const {
    using U = std::make_unsigned_t<T>;
    constexpr U kWidth = sizeof(T) * 8;
    return U(y) < kWidth ? T(U(x) << (U(y) % kWidth)) : T(0);
  }
};
template <class T>
struct ShiftRight {
  HOTARU_INLINE T operator()(T x, T y) const {
    using U = std::make_unsigned_t<T>;
    constexpr U kWidth = sizeof(T) * 8;
    const T end = std::is_signed_v<T> ? T(x >> (kWidth - 1)) : T(0);
    return U(y) < kWidth ? T(x >> (U(y) % kWidth)) : end;
  }
};
template <class T>
struct LogicalNot {
  HOTARU_INLINE bool operator()(T x) const { return x == T(0); }
};
template <class T>
struct BitNot {
  HOTARU_INLINE T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>)
      return !x;
    else
      return T(~x);
  }
};
template <class T>
struct IsNan {
  HOTARU_INLINE bool operator()(T x) const { return is_nan(x); }
};
template <class T>
struct IsInf {
  HOTARU_INLINE bool operator()(T x) const {
    if constexpr (kIsComplex<T>)
      return std::isinf(x.real()) || std::isinf(x.imag());
    else if constexpr (kIsInteger<T>)
      return false;
    else
      return std::isinf(x);
  }
};

}  // namespace hotaru::formulas
