#include "hotaru/backend/cpu/conv/gradients/blocked_gradients.h"

#include <algorithm>
#include <vector>

#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

using detail::divide_up;

// Bytes of the pictures that stay near while all taps pass over them.
constexpr int64_t kNearBytes = 24 * 1024;

/// f(first, end) over blocks of so many elements each, in parallel.
template <class F>
void for_blocks(int64_t blocks, int64_t elements, const F& f) {
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, elements));
  parallel_for(0, blocks, grain, f);
}

int64_t blocked_size(int64_t n, int64_t channels, int64_t pixels) {
  return n * channel_blocks(channels) * kChannelBlock * pixels;
}

/// The weight of the convolution that gives x's gradient: outputs and inputs
/// exchanged, taps from the last one to the first, in blocks of both.
void pack_reversed(const ConvGeometry& g, const float* weight, float* packed) {
  const int64_t taps = volume(g.kernel), channels = g.in_channels;
  const int64_t outs = channel_blocks(g.out_channels);
  constexpr int64_t kTap = kChannelBlock * kChannelBlock;
  for_blocks(channel_blocks(channels) * outs, taps * kTap,
             [&](int64_t at, int64_t end) {
               for (; at < end; ++at) {
                 const int64_t c = at / outs * kChannelBlock;
                 const int64_t o = at % outs * kChannelBlock;
                 const int64_t used = std::min(kChannelBlock, channels - c);
                 float* to = packed + at * taps * kTap;
                 if (used < kChannelBlock || o + kChannelBlock > g.out_channels)
                   std::fill_n(to, taps * kTap, 0.0f);
                 const int64_t stop =
                     std::min(g.out_channels, o + kChannelBlock);
                 for (int64_t i = o; i < stop; ++i, to += kChannelBlock) {
                   const float* from = weight + (i * channels + c) * taps;
                   for (int64_t t = 0; t < taps; ++t) {
                     float* const line = to + (taps - 1 - t) * kTap;
                     for (int64_t k = 0; k < used; ++k)
                       line[k] = from[k * taps + t];
                   }
                 }
               }
             });
}

/// Positions of one dimension of an output whose window's tap lies inside of
/// the input, and where in it the first one's does.
struct Inside {
  int64_t first, end, input;
};
Inside inside(int64_t out, int64_t in, int64_t stride, int64_t shift) {
  const int64_t first = shift >= 0 ? 0 : divide_up(-shift, stride);
  const int64_t end =
      std::min(out, in > shift ? divide_up(in - shift, stride) : 0);
  return {first, end, first * stride + shift};
}

/// Sums of the gradient of a weight, pairs of output blocks and input blocks at
/// a time.
class WeightGradient {
 public:
  WeightGradient(const ConvGeometry& g, const float* dy, const float* x)
      : g_(g), s_(g), dy_(dy), x_(x) {
    for (int64_t r = 0; r < s_.kernel_h; ++r)
      for (int64_t c = 0; c < s_.kernel_w; ++c)
        columns_.push_back(inside(s_.out_w, s_.w, s_.stride_w,
                                  c * s_.dilation_w - s_.padding_w));
    const int64_t row = kChannelBlock * int64_t(sizeof(float)) *
                        (2 * s_.out_w + s_.stride_h * s_.w);
    rows_at_once_ = std::max<int64_t>(1, kNearBytes / row);
    cuts_ = divide_up(s_.out_h, rows_at_once_);
  }

  void run(float* dweight) const {
    const int64_t tasks = divide_up(outs_, 2) * ins_;
    const int64_t pieces = s_.n * cuts_;
    // Threads share out pictures where there are too few blocks.
    const int64_t threads = get_num_threads();
    const int64_t slices = tasks >= 2 * threads ? 1 : std::min(threads, pieces);
    const int64_t size = outs_ * ins_ * s_.taps() * kTap;
    float* const sums = scratch<float>(ScratchUse::kConvOutput, slices * size);
    std::fill_n(sums, slices * size, 0.0f);
    parallel_for(0, slices * tasks, 1, [&](int64_t at, int64_t end) {
      for (; at < end; ++at) {
        const int64_t slice = at / tasks, task = at % tasks;
        add(task, slice * pieces / slices, (slice + 1) * pieces / slices,
            sums + slice * size);
      }
    });
    for (int64_t slice = 1; slice < slices; ++slice)
      for (int64_t i = 0; i < size; ++i) sums[i] += sums[slice * size + i];
    unpack(sums, dweight);
  }

 private:
  static constexpr int64_t kTap = kChannelBlock * kChannelBlock;

  /// Pieces [piece, end) of pictures for a pair of output blocks and an input
  /// block.
  void add(int64_t task, int64_t piece, int64_t end, float* sums) const {
    const int64_t out = task / ins_ * 2, in = task % ins_;
    const int64_t blocks = std::min<int64_t>(2, outs_ - out);
    float* const to = sums + (out * ins_ + blocks * in) * s_.taps() * kTap;
    for (; piece < end; ++piece) {
      const int64_t row = piece % cuts_ * rows_at_once_;
      const int64_t stop = std::min(s_.out_h, row + rows_at_once_);
      const int64_t n = piece / cuts_;
      const float* dy =
          dy_ + (n * outs_ + out) * s_.out_h * s_.out_w * kChannelBlock;
      const float* x = x_ + (n * ins_ + in) * s_.h * s_.w * kChannelBlock;
      for (int64_t tap = 0; tap < s_.taps(); ++tap)
        add_tap(tap, {row, stop}, blocks, dy, x, to + tap * blocks * kTap);
    }
  }

  struct Rows {
    int64_t first, end;
  };

  void add_tap(int64_t tap, Rows rows, int64_t blocks, const float* dy,
               const float* x, float* sums) const {
    const int64_t shift = tap / s_.kernel_w * s_.dilation_h - s_.padding_h;
    const Inside all = inside(s_.out_h, s_.h, s_.stride_h, shift);
    const Inside& columns = columns_[size_t(tap)];
    const int64_t first = std::max(rows.first, all.first);
    const int64_t end = std::min(rows.end, all.end);
    if (first >= end || columns.first >= columns.end) return;
    const int64_t input = first * s_.stride_h + shift;
    const BlockedProductKernels& kernels = blocked_product_kernels();
    BlockedProducts p{
        .dy = dy + (first * s_.out_w + columns.first) * kChannelBlock,
        .x = x + (input * s_.w + columns.input) * kChannelBlock,
        .dy_block = s_.out_h * s_.out_w * kChannelBlock,
        .dy_row = s_.out_w * kChannelBlock,
        .x_row = s_.stride_h * s_.w * kChannelBlock,
        .x_pixel = s_.stride_w * kChannelBlock,
        .rows = end - first,
        .columns = columns.end - columns.first,
        .sums = sums};
    const int64_t count = kernels.channels[blocks - 1];
    for (int64_t c = 0; c < kChannelBlock; c += count) {
      kernels.add[blocks - 1](p);
      p.x += count;
      p.sums += count * blocks * kChannelBlock;
    }
  }

  /// To rows of output channels.
  void unpack(const float* sums, float* dweight) const {
    const int64_t taps = s_.taps();
    for_blocks(outs_, ins_ * taps * kTap, [&](int64_t out, int64_t end) {
      for (; out < end; ++out) {
        const int64_t pair = out / 2 * 2;
        const int64_t blocks = std::min<int64_t>(2, outs_ - pair);
        const int64_t o = out * kChannelBlock;
        const int64_t outputs = std::min(kChannelBlock, s_.o - o);
        for (int64_t c = 0; c < s_.c; ++c)
          for (int64_t t = 0; t < taps; ++t) {
            const int64_t in = c / kChannelBlock, of_block = c % kChannelBlock;
            const float* from =
                sums + (pair * ins_ + blocks * in) * taps * kTap +
                ((t * kChannelBlock + of_block) * blocks + out - pair) *
                    kChannelBlock;
            float* to = dweight + (o * s_.c + c) * taps + t;
            for (int64_t i = 0; i < outputs; ++i, to += s_.c * taps)
              *to = from[i];
          }
      }
    });
  }

  const ConvGeometry& g_;
  const BlockedSizes s_;
  const float *dy_, *x_;
  const int64_t outs_ = channel_blocks(s_.o), ins_ = channel_blocks(s_.c);
  std::vector<Inside> columns_;  // of each tap
  int64_t rows_at_once_, cuts_;
};

}  // namespace

void blocked_weight_gradient(const ConvGeometry& g, const float* dy,
                             const float* x, float* dweight) {
  const int64_t out = g.out_positions(), in = volume(g.in);
  const int64_t dy_size = blocked_size(g.batch, g.out_channels, out);
  float* const pictures =
      scratch<float>(ScratchUse::kConvPatches,
                     dy_size + blocked_size(g.batch, g.in_channels, in));
  block_pictures(dy, g.batch, g.out_channels, out, pictures);
  block_pictures(x, g.batch, g.in_channels, in, pictures + dy_size);
  WeightGradient(g, pictures, pictures + dy_size).run(dweight);
}

void blocked_data_gradient(const ConvGeometry& g, const float* dy,
                           const float* weight, const float* bias, float* dx) {
  ConvGeometry turned = g;
  std::swap(turned.in_channels, turned.out_channels);
  turned.in = g.out();
  for (size_t i = 1; i < 3; ++i)
    turned.padding[i] = g.dilation[i] * (g.kernel[i] - 1) - g.padding[i];
  const int64_t out = g.out_positions(), in = volume(g.in);
  const int64_t dy_size = blocked_size(g.batch, g.out_channels, out);
  const int64_t dx_size = blocked_size(g.batch, g.in_channels, in);
  const int64_t channels = channel_blocks(g.in_channels) * kChannelBlock;
  const int64_t w_size = channels * channel_blocks(g.out_channels) *
                         kChannelBlock * volume(g.kernel);
  // run() takes the other buffers of convolutions.
  float* const room = scratch<float>(ScratchUse::kConvBlocks,
                                     dy_size + dx_size + w_size + channels);
  float *const from = room, *const to = from + dy_size;
  float *const packed = to + dx_size, *const shift = packed + w_size;
  std::fill_n(shift, channels, 0.0f);
  if (bias) std::copy_n(bias, g.in_channels, shift);
  pack_reversed(g, weight, packed);
  block_pictures(dy, g.batch, g.out_channels, out, from);
  BlockedConv(BlockedForm(turned))
      .run({.x = from,
            .w = packed,
            .shift = shift,
            .residual = nullptr,
            .y = to});
  unblock_pictures(to, g.batch, g.in_channels, in, dx);
}

}  // namespace hotaru::cpu
