// Sizes from which on attention is one call on a CPU, rather than products with
// a softmax between them: its ways (docs/ways.md) are asked from there on.
#pragma once

#include <cstdint>

namespace hotaru {

/// Scores of a head from which on the operator is one kernel, which keeps none
/// of them for the gradient.
inline constexpr int64_t kScoresOfAttention = 128 * 128;
/// Rows from which on a graph makes products one call: keys and values are read
/// again by then.
inline constexpr int64_t kRowsOfSoftmaxProduct = 16;

}  // namespace hotaru
