// Bases and views found again in memory of their own (autograd/view_map.h).
#pragma once

#include "hotaru/autograd/view_map.h"

namespace hotaru::autograd {

/// Elements of one dimension read as those of another dtype: parts of complex
/// ones, or the other way round.
Tensor read_as(const Tensor& memory, DType dtype);
/// The tensor that lies so in the memory.
Tensor at(const Tensor& memory, const Layout& layout);

}  // namespace hotaru::autograd
