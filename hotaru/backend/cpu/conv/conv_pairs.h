// Convolutions as products of bfloat16: two channels that follow each other
// share a word, so that patches of words are gathered as those of floats are
// (conv_patches.h), and the products add up both (matmul/pair_kernels.h).
#pragma once

#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/core/half.h"

namespace hotaru {

/// y = conv(x, weight) + bias as conv_forward(), sums in float, with x and
/// weight rounded to bfloat16 if they are of floats; subnormal numbers may
/// count as zero. T: float, BFloat16.
template <class T>
void conv_forward_pairs(const ConvGeometry& geometry, const T* x,
                        const T* weight, const T* bias, T* y);

}  // namespace hotaru
