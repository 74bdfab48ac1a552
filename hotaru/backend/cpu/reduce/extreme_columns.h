// Extreme elements of columns that lie side by side.
#pragma once

#include <cstdint>
#include <type_traits>

namespace hotaru::cpu {

/// What rows of columns that lie side by side give: for each of them the
/// greatest (least) element and the first row that has it; NaN before all.
template <class T>
struct ExtremeColumns {
  /// As wide as the elements, which vectors need no conversion for.
  using Row = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  static constexpr int64_t kMost = 512;

  T best[kMost];
  Row row[kMost];

  /// Of n >= 1 rows of `count` <= kMost elements, `stride` apart.
  void find(bool largest, const T* x, int64_t n, int64_t stride, int64_t count);
};

/// Whether find() exists for a type.
template <class T>
inline constexpr bool kHasExtremeColumns =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;

}  // namespace hotaru::cpu
