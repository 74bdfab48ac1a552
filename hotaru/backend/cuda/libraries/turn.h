// Matrices between our layout and that of libraries that count by columns.
#pragma once

#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/turn.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cuda {

/// Matrices of a batch, one behind the other unless `bytes` says otherwise.
struct Matrices {
  void* data = nullptr;
  int64_t row = 0;    // elements from row to row
  int64_t bytes = 0;  // from matrix to matrix

  /// Null if there are none.
  char* at(int64_t i) const {
    return data ? static_cast<char*>(data) + i * bytes : nullptr;
  }
};
/// Row-major [rows, columns].
inline Matrices row_major(const void* data, int64_t rows, int64_t columns,
                          DType dtype) {
  return {const_cast<void*>(data), columns,
          rows * columns * int64_t(itemsize(dtype))};
}

/// How it is copied; see params/turn.h.
struct Turning {
  bool turned = true, conjugated = false;
  Kept kept = Kept::kAll;
  int32_t* not_finite = nullptr;
};
/// Copies `batch` matrices to `to` [rows, columns].
void turn(DType dtype, int64_t batch, const Matrices& from, const Matrices& to,
          int64_t rows, int64_t columns, const Turning& how = {});

}  // namespace hotaru::cuda
