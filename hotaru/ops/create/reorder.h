// Copies into a memory format.
#pragma once

#include "hotaru/core/memory_format.h"
#include "hotaru/core/tensor.h"
#include "hotaru/ops/boxing.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/result_place.h"

namespace hotaru {

/// A memory format as operators take it: PyTorch's number, or none.
using GivenFormat = Optional<int64_t>;

/// True if one is given that says how elements lie: not kPreserve.
inline bool reorders(const GivenFormat& format) {
  return format && MemoryFormat(*format) != MemoryFormat::kPreserve;
}

/// self if it is in the format already, else a copy in it; not kPreserve.
Tensor contiguous(const Tensor& self, MemoryFormat format);
/// An uninitialised result like `model` that lies row by row, whatever the
/// order of the model's dimensions: PyTorch's rule for scans, softmax and
/// triangles.
inline Tensor row_major_like(const Tensor& model) {
  return allocate_result(model.sizes(), model.dtype(), model.device());
}
/// A row-major copy without history, for an operator to write into.
Tensor row_major_copy(const Tensor& self);
/// A result whose elements lie as those of `model` do, if channels last.
Tensor in_format_of(const Tensor& model, const Tensor& result);
/// An uninitialised result like `model`, of another dtype, device or format
/// where given.
Tensor empty_like(const Tensor& model, const Optional<DType>& dtype,
                  const Optional<Device>& device, const GivenFormat& format);

}  // namespace hotaru
