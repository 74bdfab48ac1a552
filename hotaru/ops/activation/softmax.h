// Exponentials normalised along a dimension. Floating dtypes; `dtype` converts
// the input first.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

Tensor softmax(const Tensor& self, int64_t dim, Optional<DType> dtype = {});
Tensor log_softmax(const Tensor& self, int64_t dim, Optional<DType> dtype = {});

}  // namespace hotaru
