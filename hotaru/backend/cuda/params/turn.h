// Copies of matrices for libraries that count by columns, and what such a
// library left, as our own kernels leave it.
//
//   Turn        in x a block for each matrix, in y and z for every kTurnTile
//               columns and rows of what is written
//   Pivots      a block for each matrix
//   UnpackPairs like Turn, of a real library's eigenvectors
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

inline constexpr int32_t kTurnTile = 32;

/// Part of a matrix that is copied where it is written; the rest becomes 0.
enum class Kept : uint8_t { kAll, kLower, kUpper };

/// to[i, j] = from[j, i] if turned, else from[i, j], of row-major matrices.
struct TurnParams {
  const void* from = nullptr;
  void* to = nullptr;
  /// From matrix to matrix; elements from row to row.
  int64_t from_bytes = 0, to_bytes = 0, from_row = 0, to_row = 0;
  /// Sides of what is written.
  int32_t rows = 0, columns = 0;
  Kept kept = Kept::kAll;
  bool turned = true, conjugated = false;
  /// If not null, each matrix's is set to 1 where a number is not finite, and
  /// 0 is copied for it: a library need not end for others.
  int32_t* not_finite = nullptr;
};

/// to[i] = from[i], as 32 bits.
struct PivotsParams {
  const int64_t* from = nullptr;
  int32_t* to = nullptr;
  int64_t to_bytes = 0;
  int32_t count = 0;
};

/// Eigenvectors of real matrices: `from` has the real and the imaginary part of
/// a conjugate pair's vectors as neighbouring rows, `to` all of them as
/// columns. The imaginary parts of `values` say which are pairs.
struct PairsParams {
  const void* from = nullptr;
  const void* values = nullptr;
  void* to = nullptr;
  int64_t from_bytes = 0;
  int32_t n = 0;
};

}  // namespace hotaru::cuda
