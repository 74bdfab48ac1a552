// Where in memory the slice lies that a mapped function (vmap) is given.
#pragma once

#include <utility>
#include <vector>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Mapped tensors, and how many elements behind its beginning each one's slice
/// begins. An offset that `as_strided` is given in the function is the first
/// slice's: the calls of this thread add the slice's shift to it, those of an
/// inner map on top of an outer one's.
using SliceShifts = std::vector<std::pair<Tensor, int64_t>>;
void begin_slice(SliceShifts shifts);
void end_slice();

/// How far behind the first slice's memory this tensor's is in this call, in
/// elements: 0 of what the function made itself. Programs are told offsets
/// without it. Throws where tensors that share memory are mapped in different
/// ways, which leaves open whose offset is meant.
int64_t slice_shift(const Tensor& self);
/// The offset in this slice.
Optional<int64_t> offset_in_slice(const Tensor& self, Optional<int64_t> offset);

/// as_strided as programs call it.
Tensor as_strided_in_slice(const Tensor& self, IntSpan size, IntSpan stride,
                           Optional<int64_t> offset);

}  // namespace hotaru
