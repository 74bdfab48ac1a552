// Parts of a tensor as slices, which may be written; split() gives parts that
// may not.
#pragma once

#include "hotaru/core/tensor.h"
#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Throws when there would be more parts than any program can use: a number
/// from a file must not take all memory.
void check_parts(const char* op, int64_t parts);

/// `sections` parts along dim; the first ones are longer by 1 where the size
/// is no multiple.
Tensors tensor_split(const Tensor& self, int64_t sections, int64_t dim);
/// Parts that end where each index says, and the rest.
Tensors tensor_split(const Tensor& self, IntSpan indices, int64_t dim);

}  // namespace hotaru
