// Attributes of the kernels behind x[indices].
#pragma once

#include <cstdint>

namespace hotaru {

/// Kernels "index" (result, input, index...) and "index_put" (target, values,
/// index...). The input is permuted so that the indexed dimensions, one an
/// index, stand together after `before` others; every index is int64 and has
/// the same shape, which takes their place in the result and the values.
struct IndexAttributes {
  int64_t before = 0;
  bool accumulate = false;
  /// The index is one into the flattened tensor, as messages tell.
  bool flat = false;
};

/// Kernel "triangle_indices" (result [2, n], int64 or int32): rows and columns
/// of what lies on the diagonal and below it, or above it.
struct TriangleIndicesAttributes {
  int64_t rows = 0, columns = 0, diagonal = 0;
  int64_t first_row = 0, first_column = 0;  // added
  bool upper = false;
};

/// Kernel "triangle" (result, input): keeps the lower or the upper one.
struct TriangleAttributes {
  int64_t diagonal = 0;
  bool upper = false;
};

}  // namespace hotaru
