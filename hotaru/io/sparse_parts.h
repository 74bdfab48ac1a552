// Sparse tensors of the parts that files have.
#pragma once

#include <vector>

#include "hotaru/core/tensor.h"

namespace hotaru::io {

/// A tensor of that layout's number: of kSparseCoo of its indices and values,
/// of kSparseCsr of where rows begin, columns and values. Throws Error for
/// another layout, for parts that don't fit one another or the sizes, and for
/// indices that point outside.
Tensor sparse_of_parts(int64_t layout, IntSpan sizes,
                       const std::vector<Tensor>& parts);

}  // namespace hotaru::io
