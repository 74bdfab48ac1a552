// The sum of gradients of which one at least is sparse.
#pragma once

#include "hotaru/core/sparse/sparse.h"

namespace hotaru {

/// a + b of one shape. Of two in coordinates: the elements of both, not
/// coalesced; of a sparse and a strided one: strided. Throws
/// NotImplementedError for two compressed ones, whose patterns may differ.
Tensor sparse_sum(const Tensor& a, const Tensor& b);

/// Whether that is the sum to take. Two loads for a strided tensor.
inline bool is_sparse(const Tensor& tensor) {
  return tensor.storage()->pending() && sparse_storage(tensor);
}

}  // namespace hotaru
