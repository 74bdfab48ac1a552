// The type that a kernel computes in: float for 16-bit floats.
#pragma once

#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"

namespace at {

template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<Half> {
  using type = float;
};
template <>
struct OpMathType<BFloat16> {
  using type = float;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;

}  // namespace at
