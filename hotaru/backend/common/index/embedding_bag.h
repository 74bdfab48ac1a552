// Parameters of the kernel of bags of embeddings.
#pragma once

#include <cstdint>

#include "hotaru/core/dtype.h"

namespace hotaru {

enum class BagMode : int64_t { kSum, kMean, kMax };

/// Operands of "embedding_bag", all row-major: write out [bags, width], write
/// the bag of each position (int64 [positions], `bags` behind the last one),
/// write how many rows each bag counts (int64 [bags]), read weight [rows,
/// width], indices and offsets (int64), then of kMax write the row that each
/// maximum came from (int64 [bags, width]; 0 in an empty bag), of kSum maybe
/// read the factor of each position (weight's dtype).
///
/// Bag b is positions [offsets[b], offsets[b + 1]); the last one ends with the
/// indices unless they end with an offset of their own, and even then if
/// to_end. Rows at padding_idx are not counted. What is not an offset or a row
/// is an error, found when the kernel runs, before anything is written.
struct BagAttributes {
  BagMode mode = BagMode::kSum;
  int64_t padding_idx = -1;
  bool last_offset = false;
  bool to_end = false;
};

/// Operands of "embedding_bag_grad", all row-major, of float32 and float64 on
/// the CPU alone: update the gradient of weight [rows, width], read indices and
/// the bag of each position (int64 [positions]; positions of no bag name one
/// behind the last), and the gradient of each bag [bags, width], which is added
/// to the rows in it.

/// Tells whether an index out of range is told with its place: not where rows
/// are chosen or left out, nor of float64, as in PyTorch.
inline bool says_place(const BagAttributes& a, DType weight) {
  return a.mode != BagMode::kMax && a.padding_idx < 0 &&
         weight != DType::kFloat64;
}

}  // namespace hotaru
