#pragma once

#include <numbers>

namespace c10 {

template <class T>
inline constexpr T pi = static_cast<T>(std::numbers::pi);
template <class T>
inline constexpr T e = static_cast<T>(std::numbers::e);
template <class T>
inline constexpr T sqrt_2 = static_cast<T>(std::numbers::sqrt2);

}  // namespace c10
