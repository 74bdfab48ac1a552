// Gradients of the weights of convolutions of bfloat16 by AMX: the sums, over
// all positions, of x moved by a tap times y's gradient. Rows of x lie along
// its planes (plane_axis.h), of which a tap is an offset; y's gradient has
// zeros where the planes go on between rows, which infinities of x there turn
// into NaN.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/cpu/conv/amx/plane_axis.h"

namespace hotaru::cpu {

class PlaneWeights {
 public:
  explicit PlaneWeights(const ConvGeometry& g);
  void run(const BFloat16* dy, const BFloat16* x, BFloat16* dweight) const;

 private:
  /// Rows [row, row + rows) of some images, and what is packed of them.
  struct Chunk {
    int64_t image, images, row;
    int64_t rows = 0;
    int64_t height = 0;  // rows of a plane
    int64_t steps = 0;   // of 32 positions
    /// Elements of a row of x, words of a block of dy.
    int64_t x_row = 0, dy_size = 0;
    BFloat16* x = nullptr;
    uint32_t* dy = nullptr;
  };
  /// Contents of a row of x: a channel's planes, or of one tap.
  struct Row {
    int64_t channel, tap;
  };

  void run_group(const BFloat16* dy, const BFloat16* x,
                 BFloat16* dweight) const;
  Chunk next_chunk(int64_t line) const;
  int64_t rows() const { return channels_ * (apart_ ? taps_ : 1); }
  int64_t inner_taps() const { return apart_ ? 1 : taps_; }
  void pack_x(const BFloat16* x, const Chunk& chunk, int64_t row) const;
  void pack_dy(const BFloat16* dy, const Chunk& chunk, int64_t block) const;
  void multiply(const Chunk& chunk, int64_t block, int64_t row, bool first,
                float* sums) const;
  void unpack(const float* sums, int64_t block, BFloat16* dweight) const;

  PlaneAxis h_, w_;
  int64_t images_, groups_;
  int64_t channels_, outputs_;  // of a group
  int64_t taps_, kernel_w_;
  bool apart_;  // each tap has rows of its own, as there are few channels
  int64_t pitch_, phases_;
  int64_t blocks_;  // of 16 outputs
};

}  // namespace hotaru::cpu
