// Parameters of bags of embeddings, and how they are launched.
//
//   EmbeddingBag_<suffix>   suffixes of params/types.h, floating ones
//   parameters   EmbeddingBagParams
//   grid         a thread for each element of the result, at least one
//   block        kBlock
//   shared       none; threads do not wait for each other
#pragma once

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// See common/index/embedding_bag.h. All operands lie row by row.
struct EmbeddingBagParams {
  enum Mode : uint8_t { kSum, kMean, kMax };
  /// Errors that are reported, with the numbers of the CPU's texts.
  enum Error : int64_t { kIndex, kFirst, kDecrease, kLast };

  void* out = nullptr;
  int64_t* bag_of = nullptr;
  int64_t* counted = nullptr;
  /// Rows that maxima came from, for kMax.
  int64_t* winners = nullptr;
  const void* weight = nullptr;
  const int64_t* indices = nullptr;
  const int64_t* offsets = nullptr;
  /// Factor of each position, or null.
  const void* factors = nullptr;
  int64_t rows = 0, positions = 0, padding = -1;
  uint32_t bags = 0;
  /// Offsets that there are: maybe one more than bags.
  uint32_t offset_count = 0;
  /// Elements of a row, and columns that threads count: at least one.
  uint32_t width = 0;
  Divider columns;
  Mode mode = kSum;
  /// Set if the last bag ends with the indices.
  bool to_end = true;
  ErrorSink errors;
};

}  // namespace hotaru::cuda
