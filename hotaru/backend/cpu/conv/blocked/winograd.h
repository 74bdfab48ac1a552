// Convolutions of 3 x 3 with fewer multiplications: S. Winograd's minimal
// filtering F(2 x 2, 3 x 3) (A. Lavin, S. Gray, Fast algorithms for
// convolutional neural networks, 2015). A tile of 4 x 4 pixels becomes 16
// numbers a channel by additions; each of them is multiplied on its own with a
// matrix made of the weights; the 16 sums become 2 x 2 results by additions.
// 16 multiplications in place of 36.
#pragma once

#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"

namespace hotaru::cpu {

/// Tiles whose numbers are worked on together.
struct WinogradTiles {
  int64_t first, count;  // of all tiles of all images, row by row
};

/// SIMD parts, chosen at run time. `block` is a block of channels.
struct WinogradKernels {
  /// Numbers of `count` tiles of a plane of h x w pixels: to[k * stride + 16 t]
  /// for the k-th number of the t-th tile. Tile (i, j) begins at row
  /// 2 i - padding_h and column 2 j - padding_w; outside are zeros.
  struct Input {
    const float* x;
    int64_t h, w, padding_h, padding_w;
    int64_t tile_columns;  // tiles in a row
    int64_t first, count;  // tiles of the plane
    float* to;
    int64_t stride;
  };
  void (*input)(const Input& t);
  /// The reverse: y = ending(sums + shift + residual) of h x w
  /// pixels.
  struct Output {
    const float* from;
    int64_t stride;
    int64_t h, w, tile_columns, first, count;
    const float* shift;
    const float* residual;  // or null
    const BlockEnding* ending;
    int64_t used;  // channels of the block, 0: all
    float* y;
  };
  void (*output)(const Output& t);
};
const WinogradKernels& winograd_kernels();

/// A call of "winograd_conv" but where its operands lie.
class Winograd {
 public:
  explicit Winograd(const KernelCall& call);
  void run(const BlockedConv::Operands& o) const;

 private:
  void transform(const BlockedConv::Operands& o, WinogradTiles tiles,
                 float* numbers) const;
  void multiply(const float* w, int64_t count, const float* numbers,
                float* sums) const;
  void finish(const BlockedConv::Operands& o, WinogradTiles tiles,
              const float* sums) const;
  template <class F>
  void for_planes(int64_t blocks, WinogradTiles tiles, const F& f) const;

  BlockedSizes s_;
  BlockEnding ending_;
  int64_t in_blocks_, out_blocks_;
  int64_t tile_columns_, plane_tiles_, tiles_;
  int64_t chunks_;  // parts of the tiles, each of which fits the cache
  int blocks_;      // output blocks of a product's tile
};

}  // namespace hotaru::cpu
