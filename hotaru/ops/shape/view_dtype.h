// Views of the same bytes as another dtype.
#pragma once

#include "hotaru/ops/boxing.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru {

/// The bytes of self as another dtype: the last dimension grows or shrinks
/// where the element sizes differ. No gradient flows through it.
Tensor view(const Tensor& self, DType dtype);
}  // namespace hotaru
