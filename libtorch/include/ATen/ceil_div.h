// Quotients rounded up.
#pragma once

#include <type_traits>

namespace at {

/// Quotient of positive integers, rounded up.
template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
/// The least multiple of b that is not below a.
template <class T>
constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}

}  // namespace at
