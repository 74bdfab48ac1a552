// When two tensors are one.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Tells whether they are the same elements in the same order. Strides of
/// dimensions of size 1 don't count.
inline bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.storage().get() != b.storage().get() || a.dtype() != b.dtype() ||
      a.storage_offset() != b.storage_offset() || !same(a.sizes(), b.sizes()))
    return false;
  for (size_t d = 0; d < size_t(a.dim()); ++d)
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  return true;
}

}  // namespace hotaru
