// Copies into a memory format.
#pragma once

#include "hotaru/core/memory_format.h"
#include "hotaru/core/tensor.h"

namespace hotaru {

/// self if it is in the format already, else a copy in it; not kPreserve.
Tensor contiguous(const Tensor& self, MemoryFormat format);
/// A result whose elements lie as those of `model` do, if channels last.
Tensor in_format_of(const Tensor& model, const Tensor& result);

}  // namespace hotaru
