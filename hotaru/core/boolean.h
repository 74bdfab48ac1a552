// The elements of bool tensors.
#pragma once

#include <cstdint>
#include <limits>

namespace hotaru {

/// A byte of which everything but 0 is true: files, numpy arrays and views of
/// other dtypes bring bytes that no C++ bool may hold. What is computed from
/// one, and every copy by value, is 0 or 1; whoever moves bytes keeps them.
struct Bool {
  uint8_t byte = 0;

  Bool() = default;
  constexpr Bool(bool value) : byte(value) {}
  constexpr operator bool() const { return byte != 0; }
};

}  // namespace hotaru

template <>
struct std::numeric_limits<hotaru::Bool> {
  static constexpr bool is_specialized = true, is_signed = false;
  static constexpr int digits = 1;
  static constexpr hotaru::Bool lowest() { return false; }
  static constexpr hotaru::Bool min() { return false; }
  static constexpr hotaru::Bool max() { return true; }
};
