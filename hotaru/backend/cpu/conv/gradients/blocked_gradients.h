// Gradients of convolutions of plain pictures by way of blocks of channels
// (backend/common/conv/blocked.h): operands are brought into blocks, which
// takes one pass over each, and results back.
#pragma once

#include "hotaru/backend/cpu/conv/conv_kernel.h"

namespace hotaru::cpu {

/// As conv_backward_weight() and conv_backward_data(), for several taps over
/// lines or planes in one group.
void blocked_weight_gradient(const ConvGeometry& g, const float* dy,
                             const float* x, float* dweight);
void blocked_data_gradient(const ConvGeometry& g, const float* dy,
                           const float* weight, const float* bias, float* dx);

/// Sums of products of two blocked pictures: of output channels and, moved by a
/// tap of the kernel, input channels.
struct BlockedProducts {
  const float* dy;   // of the first output block, the first pixel
  const float* x;    // of the first of some channels, what it meets
  int64_t dy_block;  // from an output block to the next
  int64_t dy_row;    // from a row of pixels to the next
  int64_t x_row;     // from what a row meets to what the next one does
  int64_t x_pixel;   // from what a pixel meets to what the next one does
  int64_t rows, columns;
  /// [channel][output block][output channel], added to.
  float* sums;
};
/// SIMD parts, chosen at run time: for so many output blocks, one or two.
struct BlockedProductKernels {
  /// Input channels that a call serves, by output blocks.
  int channels[2];
  void (*add[2])(const BlockedProducts& p);
};
const BlockedProductKernels& blocked_product_kernels();

}  // namespace hotaru::cpu
