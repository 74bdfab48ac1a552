// Extreme elements of columns that lie side by side.
#pragma once

#include <cstdint>
#include <type_traits>

namespace hotaru::cpu {

/// What rows of columns that lie side by side give: for each of them the
/// greatest (least) element and the first row that has it; NaN before all.
template <class T>
struct ExtremeColumns {
  using Row = int32_t;  // as wide as the elements: vectors need no conversion
  static constexpr int64_t kMost = 512;

  T best[kMost];
  Row row[kMost];

  /// Of n >= 1 rows of `count` <= kMost elements, `stride` apart.
  void find(bool largest, const T* x, int64_t n, int64_t stride, int64_t count);
};

/// Whether find() exists for a type.
template <class T>
inline constexpr bool kHasExtremeColumns = std::is_same_v<T, float>;

}  // namespace hotaru::cpu
