// Attributes of the kernels that read and write at indices along a dimension.
#pragma once

#include <cstdint>

namespace hotaru {

/// Treatment of the element that is there.
enum class WriteMode : uint8_t { kAssign, kAdd, kMultiply, kMax, kMin };

/// Kernels "gather" (result, input, index) and "scatter" (target, index,
/// source): the index visits lines along the dimension.
struct ScatterAttributes {
  int64_t dim = 0;
  WriteMode mode = WriteMode::kAssign;
};

/// Kernels on whole slices at a one-dimensional index: "index_select" (result,
/// input, index), "index_write" (target, index, source).
struct SliceAttributes {
  int64_t dim = 0;
  WriteMode mode = WriteMode::kAssign;
  /// Negative indices count from the end.
  bool wrap = false;
  /// The operator, for the text of a range error.
  const char* op = "";
};

}  // namespace hotaru
