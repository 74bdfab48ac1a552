// The elements of a matrix on and below a diagonal, or on and above it, counted
// row by row; and how the kernel that writes where they lie is launched.
//
//   TriangleIndices_<suffix>   a thread an element; suffixes i32, i64
//     parameters   TriangleIndicesParams
//     block        kBlock, no shared memory; threads do not wait for each other
#pragma once

#include <algorithm>
#include <cmath>

#include "hotaru/backend/common/both.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

struct Place {
  int64_t row = 0, column = 0;
};

/// On and below the diagonal, the rows get longer by one each until they are
/// whole. What is above a diagonal is that, turned by half a turn.
class Triangle {
 public:
  constexpr Triangle() = default;
  constexpr Triangle(int64_t rows, int64_t columns, int64_t diagonal,
                     bool upper)
      : columns_(columns), last_{rows - 1, columns - 1}, upper_(upper) {
    if (upper) diagonal = columns - rows - diagonal;
    first_row_ = std::clamp<int64_t>(-diagonal, 0, rows);
    first_length_ = diagonal + first_row_ + 1;
    growing_ =
        std::clamp<int64_t>(columns - first_length_, 0, rows - first_row_);
    growing_count_ = before(growing_);
    count_ = growing_count_ + (rows - first_row_ - growing_) * columns;
  }
  constexpr int64_t count() const { return count_; }

  /// Place of element 0 <= i < count().
  HOTARU_BOTH Place find(int64_t i) const {
    if (!upper_) return find_below(i);
    const Place turned = find_below(count_ - 1 - i);
    return {last_.row - turned.row, last_.column - turned.column};
  }

 private:
  HOTARU_BOTH Place find_below(int64_t i) const {
    if (i >= growing_count_) {
      const int64_t rest = i - growing_count_, row = rest / columns_;
      return {first_row_ + growing_ + row, rest - row * columns_};
    }
    // before(row) = i, whose rounding may be off by one row.
    const double half = double(first_length_) - 0.5, twice = 2 * double(i);
    auto row = int64_t(twice / (half + std::sqrt(half * half + twice)));
    while (before(row) > i) --row;
    while (before(row + 1) <= i) ++row;
    return {first_row_ + row, i - before(row)};
  }
  /// Elements of so many growing rows.
  constexpr int64_t before(int64_t rows) const {
    return rows * first_length_ + rows * (rows - 1) / 2;
  }

  /// Rows with elements begin at first_row_; the next growing_ are not whole.
  int64_t columns_ = 0, first_row_ = 0, first_length_ = 0, growing_ = 0;
  int64_t growing_count_ = 0, count_ = 0;
  Place last_;
  bool upper_ = false;
};

struct TriangleIndicesParams {
  /// Row-major [2, triangle.count()]: rows and columns.
  void* out = nullptr;
  Triangle triangle;
  Place first;
};

}  // namespace hotaru::cuda
