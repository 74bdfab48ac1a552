// Rows of a factor as tiles read them. For inclusion after simd.h in files that
// use its pattern.

// clang-format off
#if defined(HOTARU_TILE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_TILE_ROWS_INL_H
#undef HOTARU_TILE_ROWS_INL_H
#else
#define HOTARU_TILE_ROWS_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {

/// Up to 14 rows, `row` elements apart, at one depth. They are reached from two
/// pointers by multiples of 1, 3 and 5 strides, which address arithmetic scales
/// for free.
template <class T>
struct TileRows {
  static constexpr int kHalf = 7;

  HWY_INLINE TileRows(const T* data, int64_t row)
      : lower(data), upper(data + kHalf * row), row1(row) {}

  /// Row i, known when this is compiled.
  HWY_INLINE const T* at(int i) const {
    const T* base = i < kHalf ? lower : upper;
    switch (i % kHalf) {
      case 0:
        return base;
      case 1:
        return base + row1;
      case 2:
        return base + row1 * 2;
      case 3:
        return base + row3;
      case 4:
        return base + row1 * 4;
      case 5:
        return base + row5;
      default:
        return base + row3 * 2;
    }
  }
  /// To the next depth, so many elements on.
  HWY_INLINE void next(int64_t depth) {
    lower += depth;
    upper += depth;
  }

  const T *lower, *upper;
  int64_t row1, row3 = 3 * row1, row5 = 5 * row1;
};

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HOTARU_TILE_ROWS_INL_H
