// Convolutions on blocked pictures (backend/common/conv/blocked.h), taken apart
// into tiles: output pixels next to each other in a row times output blocks,
// whose sums stay in registers.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/backend/cpu/conv/conv_kernel.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {

/// Which pixels of a tile a column of the kernel serves: those whose input lies
/// inside of the picture.
enum class TileEdge : uint8_t { kNone, kFirst, kLast, kBoth, kNothing };

/// How many of `count` pixels, the first at x and `step` apart, lie before and
/// behind a picture of that size, and which edge that is (more than one on a
/// side: not for a tile).
struct TileBounds {
  int64_t before, behind;
  TileEdge edge;
};
TileBounds tile_bounds(int64_t x, int64_t step, int64_t count, int64_t size);

/// Form of a tile, by what it may count on. One tap: of a blocked picture, one
/// row and column of the kernel, all pixels inside of the picture, nothing to
/// fetch ahead.
enum class TileForm : uint8_t { kBlocked, kOneTap, kPlain };

/// Zeros in the channels beyond the last one of a block's pixels, whatever came
/// of zeros times infinity; `used` channels are in the block.
template <class T>
void clear_unused(T* block, int64_t pixels, int64_t used);

/// Row-major pictures to blocks, and back.
void block_pictures(const float* plain, int64_t n, int64_t channels,
                    int64_t pixels, float* blocked);
void unblock_pictures(const float* blocked, int64_t n, int64_t channels,
                      int64_t pixels, float* plain);

/// Limits of finished sums, which kernels apply while those are in registers.
struct SumBounds {
  bool any = false;
  float low = 0, high = 0;
};

/// A ConvEnding as kernels apply it.
class BlockEnding {
 public:
  explicit BlockEnding(const ConvEnding& ending);

  const SumBounds& bounds() const { return bounds_; }
  /// True if the bounds are all of it.
  bool bounded() const { return !then_; }
  /// Does to pixels of a block what is left behind the bounds; then what is
  /// beyond its `used` channels is zeros again (0: all are used).
  void finish(float* y, int64_t pixels, int64_t used) const {
    if (then_) then_(y, pixels * kChannelBlock);
    if (used > 0) clear_unused(y, pixels, used);
  }

 private:
  SumBounds bounds_;
  void (*then_)(float*, int64_t) = nullptr;
};

/// y = x * numbers over the pixels of a block, with a number for each channel.
using BlockScale = void (*)(const float* x, const float* numbers,
                            int64_t pixels, float* y);
BlockScale block_scale();

/// Channels of a block of `channels` ones that are used; 0: all.
constexpr int64_t used_channels(int64_t channels, int64_t block) {
  return block + 1 < channel_blocks(channels) ? 0 : channels % kChannelBlock;
}

/// Memory that a tile reads and writes. All steps are in words of 32 bits:
/// elements, or pairs of bfloat16.
struct BlockedTile {
  const float* x;    // what the first weight meets at the first pixel
  int64_t pixel;     // from a pixel to the next
  int64_t block;     // from an input block (plain: channel) to the next
  int64_t row;       // from a row of the kernel to the next
  int64_t column;    // from a column of the kernel to the next
  const float* w;    // of the first output block
  int64_t w_output;  // from an output block to the next
  int64_t w_block;   // from an input block to the next
  int64_t blocks, rows, columns;
  const TileEdge* edges;  // of each column; of blocked pictures
  /// Where the sums begin: the shift of the first output block, or null: what
  /// y holds.
  const float* shift;
  float* y;
  int64_t y_output;  // from an output block to the next
  /// Weights that will be needed next, of the first output block: lines that
  /// are fetched with each column of the kernel, up to where they end.
  const float* ahead;
  const float* ahead_end;
  int64_t ahead_lines;
  /// Set for the last part, and what then follows the sums. residual may be
  /// null.
  bool finish;
  SumBounds bounds;
  const float* residual;  // like y
  /// y and residual are of bfloat16, and this part is the only one; of pairs
  /// and plain pictures.
  bool rounds;
};

/// SIMD parts, chosen at run time.
struct BlockedConvKernels {
  static constexpr int kMaxBlocks = 4;
  /// Most pixels of a tile of 1, 2, ... output blocks; 0: there is none.
  int max_pixels[kMaxBlocks];
  /// Most blocks of a tile of a plain picture.
  int max_plain_blocks;
  using Tile = void (*)(const BlockedTile&);
  Tile (*tile)(int pixels, int blocks, TileForm form);
  /// Elements of weights that stay near while they pass over the pixels, and of
  /// a picture while all weights pass over it; of sums, and what of a picture
  /// goes into them, while a part of all weights does.
  int64_t near_weights, near_picture, near_sums;
};
const BlockedConvKernels& blocked_conv_kernels();
/// The same for pictures and weights of bfloat16. By instructions where the
/// processor has them (AVX512-BF16), which take subnormal numbers for zero;
/// elsewhere slower than those of floats, and without plain pictures.
const BlockedConvKernels& pair_conv_kernels();

/// Sizes of a convolution over two dimensions; of one: height 1.
struct BlockedSizes {
  int64_t n, c, o, h, w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w;
  int64_t padding_h, padding_w, dilation_h, dilation_w;

  explicit BlockedSizes(const KernelCall& call);
  /// Sizes of a convolution of one or two dimensions.
  explicit BlockedSizes(const ConvGeometry& g);
  int64_t taps() const { return kernel_h * kernel_w; }
};

/// Form of a convolution, but for where its operands lie.
struct BlockedForm {
  BlockedSizes sizes;
  ConvEnding ending;
  int64_t groups = 1;
  /// x is plain; products are of pairs of bfloat16; y is of it.
  bool plain = false, pairs = false, rounds = false;

  explicit BlockedForm(const KernelCall& call);
  explicit BlockedForm(const ConvGeometry& g) : sizes(g) {}
};

/// Everything about a call of "blocked_conv" but where its operands lie. Its
/// functions may be called from several threads.
class BlockedConv {
 public:
  /// Operands; of bfloat16 (w, with x unless that is plain; y with residual)
  /// pairs of it.
  struct Operands {
    const float *x, *w, *shift, *residual;
    float* y;
    float* sums = nullptr;  // run()'s own
  };

  explicit BlockedConv(const BlockedForm& form);
  explicit BlockedConv(const KernelCall& call)
      : BlockedConv(BlockedForm(call)) {}
  void run(const Operands& o) const;

 private:
  /// Pixels of a row that one tile computes.
  struct Part {
    int64_t first;
    int64_t column;  // of x, that the first column of the kernel meets
    BlockedConvKernels::Tile tiles[2];  // of large_ blocks, of one fewer
    int64_t count;
    /// Its windows reach so far beyond the picture that they are copied.
    bool copied;
  };
  /// Rows of the kernel that lie inside of the picture for an output row, and
  /// the first pixel of x that they meet.
  struct KernelRows {
    int64_t first, count, offset;
  };
  /// Weights to fetch: what is left, how much with each tile, and how many
  /// lines of it with each column of the kernel.
  struct Ahead {
    const float* next = nullptr;
    const float* end = nullptr;
    int64_t step = 0, lines = 0;
  };
  /// Pixels of a run whose sums are done, but for their ending.
  struct Done {
    float* y = nullptr;
    int64_t pixels = 0;
  };
  /// A picture of which some pixels are read: each stride_h-th row's.
  struct Source {
    int64_t h, w, stride_h, stride_w, rows;
  };
  struct Run;
  struct Range {
    int64_t begin, end;
  };

  void choose_tiles();
  void choose_order();
  void find_edges();
  void order_by_depth(int64_t picture, int64_t weights, int64_t elements);
  int64_t gathered_size() const;
  const float* gather(const float* x) const;
  int64_t weights_of_block() const {
    return s_.kernel_h * columns_ * kChannelBlock * (plain_ ? 1 : words_);
  }
  const BlockedConvKernels& kernels() const {
    return pairs_ ? pair_conv_kernels() : blocked_conv_kernels();
  }
  int64_t words_of_sums() const {
    return rounds_at_once_ ? kChannelBlock / 2 : kChannelBlock;
  }
  void run_groups(const Operands& o, int64_t image, Range groups,
                  Range tiles) const;
  void run_blocked(const Run& run) const;
  void run_plain(const Run& run) const;
  BlockedTile common(const Run& run) const;
  void compute(const Run& run, const Part& part, int64_t row,
               BlockedTile& t) const;
  void finish(const Run& run, const BlockedTile& t, int64_t pixels, bool last,
              Done& done) const;
  void round(const Operands& o, float* sums, int64_t pixels,
             int64_t used) const;
  Ahead ahead_of(const Run& run, const BlockedTile& t) const;
  void copy_window(const float* x, const Part& part, BlockedTile& t) const;
  const float* copy_rows(const float* x, int64_t row, int64_t rows,
                         int64_t& pitch, int64_t& height) const;

  BlockedSizes s_;
  BlockEnding ending_;
  bool plain_;
  /// Products are of pairs of bfloat16, and words that a pixel has of a block.
  bool pairs_;
  int64_t words_;
  /// Columns of the kernel, or pairs of them where x is plain.
  int64_t columns_;
  /// y is of bfloat16; tiles store it so, or sums get there when they are done.
  bool rounds_, rounds_at_once_ = false;
  /// Pixels that lie apart are put next to each other first; in `source_`.
  bool gathered_ = false;
  Source source_{};
  int64_t in_blocks_, out_blocks_;  // that an output reads; all
  int64_t all_in_blocks_, blocks_of_group_;
  /// The first groups_large_ groups have large_ output blocks, others one less.
  int64_t groups_, groups_large_, large_;
  std::vector<Part> parts_;  // of a row
  /// Threads divide the pixels, each of which is then read by the core that
  /// likely wrote it, and not the output blocks. Where weights are few.
  bool by_pixels_ = false;
  std::vector<KernelRows> rows_;  // of each output row
  std::vector<TileEdge> edges_;   // of each part, columns of the kernel
  int64_t depth_blocks_;          // input blocks per pass over the pixels
  /// Each pass serves all groups before the next one begins.
  bool by_depth_ = false;
  int64_t tiles_at_once_;  // what those share is in the cache
  int64_t rows_at_once_;   // of plain pictures, that are copied with padding
};

/// The same for depthwise convolutions; weights are floats, x may be of
/// bfloat16, and so may y, with the residual.
class BlockedDepthwise {
 public:
  explicit BlockedDepthwise(const KernelCall& call);
  void run(const BlockedConv::Operands& o) const;

 private:
  void run_plane(const BlockedConv::Operands& o, int64_t plane, int64_t first,
                 int64_t last) const;

  BlockedSizes s_;
  BlockEnding ending_;
  bool halves_;  // x is of bfloat16
  bool rounds_, rounds_at_once_;
};

}  // namespace hotaru::cpu
