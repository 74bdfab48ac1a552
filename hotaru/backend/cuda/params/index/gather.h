// Parameters of the kernels that read and write at indices, and how they are
// launched.
//
//   Gather_<bytes>       IndexedParams  part = whole[index], by element size:
//                                       1, 2, 4, 8 or 16
//   Scatter_<bytes>      IndexedParams  whole[index] = part; of equal indices
//                                       any one wins
//   ScatterAdd_<suffix>, ScatterMultiply_, ScatterMax_, ScatterMin_
//                        IndexedParams  whole[index] op= part, all of them
//                        count
//   AddStrided_<suffix>  StridedCopyParams (params/create.h)  out += in, where
//                                       elements of out may share memory
//   IndexOffsets         OffsetsParams  several indices as one, which counts in
//                                       bytes; -1 if one of them is out of
//                                       range
//
// Suffixes are those of params/types.h, of sums and products also c64 and c128.
// Blocks have kBlock threads and kStridedItems elements, no shared memory;
// threads do not wait for each other. An index out of range is reported and its
// element left out: as read it is 0.
#pragma once

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/pointwise.h"

namespace hotaru::cuda {

struct IndexedParams {
  void* part = nullptr;
  void* whole = nullptr;
  const void* index = nullptr;
  uint32_t numel = 0;
  /// int64 or int32.
  bool wide = true;
  /// Negative indices count from the end.
  bool wrap = false;
  /// Size and step of the whole along the indexed dimension; the stride in
  /// bytes.
  int64_t size = 0, step = 0;
  /// Reported with code 0, the index and the size.
  ErrorSink errors;
  /// Operands: part, whole (without what the index says), index.
  Index<3> at;
};

/// Indices of one shape, int64, which wrap.
struct OffsetsParams {
  static constexpr int kMost = 8;

  /// One after another in row-major order.
  int64_t* out = nullptr;
  uint32_t numel = 0;
  int32_t count = 0;
  const void* indices[kMost] = {};
  int64_t sizes[kMost] = {};
  int64_t steps[kMost] = {};
  /// Reported with the number of the index as code, its value and the size.
  ErrorSink errors;
  Index<kMost> at;
};

}  // namespace hotaru::cuda
