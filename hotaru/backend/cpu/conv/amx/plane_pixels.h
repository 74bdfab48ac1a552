// Plain pictures of bfloat16 as the planes that products by AMX read
// (plane_conv.h): how pixels get there, and how sums become pixels again.
#pragma once

#include <cstdint>

#include "hotaru/core/half.h"

namespace hotaru::cpu {

/// A plane [rows, pitch] of a picture [h, w]: element (r, c) is the pixel
/// (first_h + r * stride_h, first_w + c * stride_w), and zero outside.
struct PlanePixels {
  int64_t rows, pitch;
  int64_t h, w;
  int64_t first_h = 0, first_w = 0;
  int64_t stride_h = 1, stride_w = 1;
};

/// The plane of one channel.
void pack_plane(const PlanePixels& p, const BFloat16* x, BFloat16* to);
/// Packs the planes of two, in words: the first one's number in the lower half.
/// Without a second one (null) zeros.
void pack_plane_pairs(const PlanePixels& p, const BFloat16* first,
                      const BFloat16* second, uint32_t* to);

/// Rows of sums, `pitch` apart, which become pixels `y_step` apart of rows
/// `y_row` apart.
struct PlaneEnd {
  int64_t rows = 0, cols, pitch;
  float bias;
  int64_t y_row, y_step;
};
/// y = sums + bias, rounded.
void end_plane(const float* sums, const PlaneEnd& end, BFloat16* y);

}  // namespace hotaru::cpu
