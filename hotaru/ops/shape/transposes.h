// Transposes that Python writes as x.T and x.mT.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// All dimensions reversed; warns of any but two, as PyTorch does.
Tensor numpy_T(const Tensor& self);
/// The last two dimensions swapped; a number is itself, with a warning.
Tensor matrix_T(const Tensor& self);

}  // namespace hotaru
