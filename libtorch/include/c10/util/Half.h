// The 16-bit floats and complex numbers as elements of tensors.
#pragma once

#include <complex>
#include <type_traits>

#include "hotaru/core/boolean.h"
#include "hotaru/core/half.h"

namespace hotaru {

/// Rounds after each: x += y on 16-bit floats, as kernels of programs write it.
#define HOTARU_TORCH_ASSIGN(op) \
  template <class H, class T> \
  requires(( \
      std::is_same_v<H, Half> || \
      std::is_same_v<H, BFloat16>)&&std::is_convertible_v<T, \
                                                          float>) constexpr H& \
  operator op##=(H& a, const T& b) { \
    return a = H(float(a) op float(b)); \
  }
HOTARU_TORCH_ASSIGN(+)
HOTARU_TORCH_ASSIGN(-)
HOTARU_TORCH_ASSIGN(*)
HOTARU_TORCH_ASSIGN(/)
#undef HOTARU_TORCH_ASSIGN

}  // namespace hotaru

namespace c10 {

using hotaru::BFloat16;
using hotaru::Half;
template <class T>
using complex = std::complex<T>;

}  // namespace c10

namespace at {
using c10::BFloat16;
using c10::Half;
}  // namespace at
