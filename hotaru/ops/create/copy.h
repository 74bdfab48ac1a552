// Copies, casts and moves between devices.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Writes src, broadcast and cast, into self. Between devices it returns, if
/// non_blocking, before it is done; whoever reads the result waits.
Tensor copy_(const Tensor& self, const Tensor& src, bool non_blocking = false);
/// The same without checks and gradient.
void enqueue_copy(const Tensor& to, const Tensor& from,
                  bool non_blocking = false);
/// A copy with self's strides if dense, else row-major.
Tensor clone(const Tensor& self);
/// self if row-major already, else a row-major copy.
Tensor contiguous(const Tensor& self);
/// self if nothing changes, else a converted copy.
Tensor to(const Tensor& self, DType dtype);
Tensor to(const Tensor& self, Device device);
Tensor to(const Tensor& self, Optional<DType> dtype, Optional<Device> device,
          bool copy = false, bool non_blocking = false);
/// The single element; throws unless numel is 1.
Scalar item(const Tensor& self);
/// Shares memory without gradient history.
Tensor detach(const Tensor& self);
/// Changes the shape in place, growing the storage at need.
Tensor resize_(const Tensor& self, IntSpan size);

}  // namespace hotaru
