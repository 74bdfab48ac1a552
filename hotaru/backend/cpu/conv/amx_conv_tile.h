// A tile of a convolution by AMX (blocked_amx.h).
#pragma once

#include <cstdint>

#include "hotaru/backend/common/conv/blocked.h"

namespace hotaru::cpu {

/// Pixels of a tile at most, and the elements of a block's sums of them.
inline constexpr int64_t kAmxPixels = 32, kAmxSums = kAmxPixels * kChannelBlock;
/// Words of weights of a step of the depth, 16 for each of 16 channels.
inline constexpr int64_t kAmxWeights = 16 * kChannelBlock;

/// Operands in words of two numbers. Step (i, t) of the depth reads rows of 16
/// words, `pixel` apart, from x + i * outer_step + offsets[t].
struct AmxTile {
  const uint32_t* x;
  int64_t pixel;
  int64_t outer, outer_step;
  int64_t inner;
  const int64_t* offsets;
  const uint32_t* w;  // of the first output block: kAmxWeights a step
  int64_t w_output;   // from an output block to the next
  /// Weights of the last step, kAmxWeights an output block, or null: in w.
  const uint32_t* rest;
  int pixels, blocks;  // up to 32 x 2 or 16 x 4
};

/// sums: of each block [pixels, channels], kAmxSums apart.
void multiply_tile(const AmxTile& t, float* sums);

}  // namespace hotaru::cpu
