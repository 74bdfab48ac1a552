// Convolutions as products of bfloat16: two channels that follow each other
// share a word, so that patches of words are gathered as those of floats are
// (conv_patches.h), and the products add up both (matmul/pair_kernels.h).
#pragma once

#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/core/half.h"

namespace hotaru {

/// Whether that is faster than a convolution of floats: the processor has
/// instructions for pairs, a group has several channels, and there are outputs
/// enough to fill lanes and to pay for putting words together.
bool pays_to_pair(const ConvGeometry& geometry);

/// y = conv(x, weight) + bias as conv_forward(), sums in float, with x and
/// weight rounded to bfloat16 if they are of floats; subnormal numbers may
/// count as zero. T: float, BFloat16.
template <class T>
void conv_forward_pairs(const ConvGeometry& geometry, const T* x,
                        const T* weight, const T* bias, T* y);

}  // namespace hotaru
