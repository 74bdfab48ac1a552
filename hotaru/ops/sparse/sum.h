// The sum of gradients of which one at least has no memory of its own.
#pragma once

#include "hotaru/core/sparse/sparse.h"

namespace hotaru {

/// a + b of one shape. Of two in coordinates: the elements of both, not
/// coalesced; of a sparse and a strided one: strided. Throws
/// NotImplementedError for two compressed ones, whose patterns may differ.
Tensor sparse_sum(const Tensor& a, const Tensor& b);

/// a + b where one of them is opaque: the same, or what whoever keeps them
/// says.
Tensor sum_of_opaque(const Tensor& a, const Tensor& b);

}  // namespace hotaru
