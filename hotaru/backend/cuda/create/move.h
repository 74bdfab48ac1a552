// Moving elements of any dtype between two layouts, for all families.
#pragma once

#include "hotaru/backend/cuda/geometry.h"

namespace hotaru::cuda {

/// Operands: to, from; elements of `item` bytes, any strides.
void move_elements(const Geometry<2>& space, size_t item);

}  // namespace hotaru::cuda
