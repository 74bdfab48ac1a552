// Common parts of the launchers of random draws.
#pragma once

#include "hotaru/backend/cuda/params/random/philox.h"
#include "hotaru/backend/cuda/philox.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {

/// Where the next draws of a generator begin, which moves on.
PhiloxState take(PhiloxGenerator& generator, uint64_t draws);

/// Blocks of a draw on the launching device.
uint32_t draw_blocks_here(int64_t numel);

/// A permutation of 0 .. n-1 into a row-major tensor.
void draw_permutation(const Tensor& out, PhiloxGenerator& generator);

}  // namespace hotaru::cuda
