// How an element and another one become one, where many go to one place.
#pragma once

#include "hotaru/backend/common/product.h"
#include "hotaru/backend/cuda/device/platform.h"

namespace hotaru::cuda {

template <class T>
__device__ inline bool is_nan(OpMath<T> x) {
  if constexpr (kIsFloating<T>)
    return x != x;
  else
    return false;
}

struct Plus {
  template <class T>
  __device__ static OpMath<T> of(OpMath<T> a, OpMath<T> x) {
    if constexpr (kIsBool<T>)
      return a || x;
    else if constexpr (kIsComplex<T>)
      return OpMath<T>(a.real() + x.real(), a.imag() + x.imag());
    else
      return OpMath<T>(a + x);
  }
};
struct Times {
  template <class T>
  __device__ static OpMath<T> of(OpMath<T> a, OpMath<T> x) {
    if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>)
      return T(uint64_t(a) * uint64_t(x));  // wraps around
    else if constexpr (kIsBool<T>)
      return a && x;
    else
      return product<OpMath<T>>(a, x);
  }
};
/// The larger, or NaN; the first of equal ones.
struct Larger {
  template <class T>
  __device__ static OpMath<T> of(OpMath<T> a, OpMath<T> x) {
    return is_nan<T>(a) || (!is_nan<T>(x) && x <= a) ? a : x;
  }
};
struct Smaller {
  template <class T>
  __device__ static OpMath<T> of(OpMath<T> a, OpMath<T> x) {
    return is_nan<T>(a) || (!is_nan<T>(x) && x >= a) ? a : x;
  }
};

}  // namespace hotaru::cuda
