// Dtypes of positions.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// True if the elements can be positions: int64 or int32.
inline bool is_index(const Tensor& t) {
  return t.dtype() == DType::kInt64 || t.dtype() == DType::kInt32;
}

}  // namespace hotaru
