// Attributes of the kernels that rearrange whole tensors.
#pragma once

#include <cstdint>

namespace hotaru {

/// Kernel "cat": operands are the result and then the inputs, all row-major
/// and of one dtype, joined along the dimension.
struct CatAttributes {
  int64_t dim = 0;
};

/// Kernel "flip": bit d is set if dimension d is reversed.
struct FlipAttributes {
  uint64_t dims = 0;
};

}  // namespace hotaru
