#include "hotaru/backend/cpu/conv/amx/plane_weights.h"

#include <algorithm>

#include "hotaru/backend/cpu/conv/amx/plane_pixels.h"
#include "hotaru/backend/cpu/matmul/amx/gemm_tiles.h"
#include "hotaru/backend/cpu/matmul/amx/packed_tile.h"
#include "hotaru/backend/cpu/matmul/amx/tile_config.h"
#include "hotaru/backend/cpu/matmul/amx/tile_scope.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

using detail::divide_up;

constexpr int64_t kOutputs = amx::kPackedColumns, kWords = amx::kTileWords;
// Positions of a step.
constexpr int64_t kStep = 2 * kWords;
// Bytes of what is packed at once, for a cache of two megabytes; steps while
// all taps pass over them, which stay in the first level.
constexpr int64_t kChunkBytes = 1 << 20, kNearSteps = 8;
// Channels below which each tap has rows of its own.
constexpr int64_t kFewChannels = 16;
// Elements of a cache line.
constexpr int64_t kLine = amx::kCacheLine / int64_t{sizeof(BFloat16)};

}  // namespace

PlaneWeights::PlaneWeights(const ConvGeometry& g)
    : h_(PlaneAxis::forward(g, 1)),
      w_(PlaneAxis::forward(g, 2)),
      images_(g.batch),
      groups_(g.groups),
      channels_(g.channels_per_group()),
      outputs_(g.outputs_per_group()),
      taps_(volume(g.kernel)),
      kernel_w_(g.kernel[2]),
      apart_(taps_ > 1 && channels_ < kFewChannels),
      pitch_(apart_ ? w_.grid : w_.pitch()),
      phases_(apart_ ? 1 : int64_t(h_.first.size() * w_.first.size())),
      blocks_(divide_up(outputs_, kOutputs)) {}

void PlaneWeights::run(const BFloat16* dy, const BFloat16* x,
                       BFloat16* dweight) const {
  for (int64_t i = 0; i < groups_; ++i)
    run_group(dy + i * outputs_ * h_.out * w_.out,
              x + i * channels_ * h_.in * w_.in,
              dweight + i * outputs_ * channels_ * taps_);
}

/// Chunk that is packed at once from a line (row of an image) on: whole images,
/// or rows of one.
PlaneWeights::Chunk PlaneWeights::next_chunk(int64_t line) const {
  Chunk c{.image = line / h_.grid, .images = 1, .row = line % h_.grid};
  const int64_t halo = apart_ ? 0 : h_.halo;
  const auto bytes = [&](int64_t height) {
    return height * pitch_ * 2 * (rows() * phases_ + blocks_ * kOutputs);
  };
  const int64_t whole = apart_ ? h_.grid : h_.pitch();
  if (c.row == 0 && bytes(whole) <= kChunkBytes) {
    c.images = std::min(images_ - c.image, kChunkBytes / bytes(whole));
    c.rows = h_.grid;
    c.height = whole;
  } else {
    c.rows = h_.grid - c.row;
    while (c.rows > 1 && bytes(c.rows + halo) > kChunkBytes)
      c.rows = divide_up(c.rows, 2);
    c.height = c.rows + halo;
  }
  const int64_t positions =
      ((c.images - 1) * c.height + c.rows - 1) * pitch_ + w_.grid;
  c.steps = divide_up(positions, kStep);
  // Rows of a tile do not all meet in the same lines of a cache.
  const int64_t lines =
      divide_up(phases_ * c.images * c.height * pitch_, kLine);
  c.x_row = (lines | 1) * kLine;
  c.dy_size = c.steps * kWords * kOutputs;
  return c;
}

void PlaneWeights::run_group(const BFloat16* dy, const BFloat16* x,
                             BFloat16* dweight) const {
  const int64_t all_rows = rows();
  const int64_t tiles = divide_up(all_rows, amx::kPackedRows);
  // A tile of few rows takes more outputs.
  const int64_t together = all_rows <= amx::kTileRows ? 4 : 2;
  const int64_t parts = divide_up(blocks_, together);
  float* const sums = scratch<float>(ScratchUse::kConvOutput,
                                     blocks_ * kOutputs * channels_ * taps_);
  const int64_t lines = images_ * h_.grid;
  for (int64_t line = 0; line < lines;) {
    Chunk c = next_chunk(line);
    // Behind the last row what tiles of the last step and tap may read.
    const int64_t room = (h_.halo + 1) * pitch_ + 2 * kStep;
    c.x =
        scratch<BFloat16>(ScratchUse::kConvPatches, all_rows * c.x_row + room);
    c.dy = scratch<uint32_t>(ScratchUse::kConvBlocks, blocks_ * c.dy_size);
    std::fill_n(c.x + all_rows * c.x_row, room, BFloat16(0.0f));
    parallel_for(0, all_rows + blocks_, 4, [&](int64_t at, int64_t end) {
      for (; at < end; ++at)
        at < all_rows ? pack_x(x, c, at) : pack_dy(dy, c, at - all_rows);
    });
    const bool first = line == 0;
    line += c.images * c.rows;
    const bool last = line == lines;
    parallel_for(0, tiles * parts, 1, [&](int64_t at, int64_t end) {
      const amx::TileScope scope(true);
      for (; at < end; ++at)
        multiply(c, at / tiles * together, at % tiles * amx::kPackedRows, first,
                 sums);
    });
    if (!last) continue;
    parallel_for(0, blocks_, 1, [&](int64_t at, int64_t end) {
      for (; at < end; ++at) unpack(sums, at, dweight);
    });
  }
}

/// A row of x: the planes of a channel, or, of a tap, only what it reads.
void PlaneWeights::pack_x(const BFloat16* x, const Chunk& c,
                          int64_t row) const {
  const int64_t plane = h_.in * w_.in, size = c.height * pitch_;
  const int64_t channel = apart_ ? row / taps_ : row;
  PlanePixels p{.rows = c.height,
                .pitch = pitch_,
                .h = h_.in,
                .w = w_.in,
                .stride_h = h_.stride,
                .stride_w = w_.stride};
  BFloat16* to = c.x + row * c.x_row;
  BFloat16* const end = to + c.x_row;
  const auto put = [&](int64_t h, int64_t w) {
    p.first_h = h + c.row * h_.stride;
    p.first_w = w;
    for (int64_t n = 0; n < c.images; ++n, to += size)
      pack_plane(p, x + ((c.image + n) * groups_ * channels_ + channel) * plane,
                 to);
  };
  if (apart_) {
    const auto& tap_h = h_.taps[0][size_t(row % taps_ / kernel_w_)];
    const auto& tap_w = w_.taps[0][size_t(row % kernel_w_)];
    put(h_.first[size_t(tap_h.phase)] + tap_h.shift * h_.stride,
        w_.first[size_t(tap_w.phase)] + tap_w.shift * w_.stride);
  } else {
    for (const int64_t h : h_.first)
      for (const int64_t w : w_.first) put(h, w);
  }
  std::fill(to, end, BFloat16(0.0f));
}

/// A block of outputs: rows of 16 pairs of positions.
void PlaneWeights::pack_dy(const BFloat16* dy, const Chunk& c,
                           int64_t block) const {
  const int64_t plane = h_.out * w_.out, words = c.steps * kWords;
  const int64_t size = c.height * pitch_;
  const int64_t room = std::max(2 * words, c.images * size);
  auto* const lines =
      scratch<BFloat16>(ScratchUse::kPanelLines, kOutputs * 2 * words + room);
  const PlanePixels p{.rows = c.rows,
                      .pitch = pitch_,
                      .h = c.row + c.rows,
                      .w = w_.out,
                      .first_h = c.row,
                      .first_w = 0};
  for (int64_t i = 0; i < kOutputs; ++i) {
    BFloat16* const line = lines + i * 2 * words;
    const int64_t o = block * kOutputs + i;
    std::fill_n(line, 2 * words, BFloat16(0.0f));
    for (int64_t n = 0; o < outputs_ && n < c.images; ++n)
      pack_plane(p, dy + ((c.image + n) * groups_ * outputs_ + o) * plane,
                 line + n * size);
  }
  gemm_kernels<float>().pack(reinterpret_cast<float*>(c.dy + block * c.dy_size),
                             kOutputs, words,
                             {reinterpret_cast<const float*>(lines), words, 1});
}

/// Adds the products of up to 32 rows of x with some blocks to their sums
/// [block, row, tap, 16 outputs].
void PlaneWeights::multiply(const Chunk& c, int64_t block, int64_t row,
                            bool first, float* sums) const {
  const int64_t all = rows(), taps = inner_taps();
  const int64_t phase = c.images * c.height * pitch_;
  const int64_t together = all <= amx::kTileRows ? 4 : 2;
  const int64_t none = 0;
  amx::PackedTile t{};
  t.rows = int(std::min(amx::kPackedRows, all - row));
  t.blocks = int(std::min(together, blocks_ - block));
  t.a_row = c.x_row / 2;
  t.outer_step = kWords;
  t.inner = 1;
  t.offsets = &none;
  t.b_row = kOutputs;
  t.b_step = kWords * kOutputs;
  t.b_block = c.dy_size;
  t.to_row = taps * kOutputs;
  t.to_block = all * taps * kOutputs;
  float* const to = sums + (block * all + row) * taps * kOutputs;
  const int64_t at_once = taps == 1 ? c.steps : kNearSteps;
  for (int64_t step = 0; step < c.steps; step += at_once) {
    t.outer = std::min(at_once, c.steps - step);
    t.adds = !first || step > 0;
    t.b = c.dy + block * c.dy_size + step * t.b_step;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const auto& h = h_.taps[0][size_t(tap / kernel_w_)];
      const auto& w = w_.taps[0][size_t(tap % kernel_w_)];
      const int64_t offset =
          apart_ ? 0
                 : (h.phase * int64_t(w_.first.size()) + w.phase) * phase +
                       h.shift * pitch_ + w.shift;
      t.a = reinterpret_cast<const uint32_t*>(c.x + row * c.x_row + offset +
                                              step * kStep);
      amx::multiply_tile(t, to + tap * kOutputs, {});
    }
  }
}

void PlaneWeights::unpack(const float* sums, int64_t block,
                          BFloat16* dweight) const {
  const int64_t size = channels_ * taps_;
  const int64_t first = block * kOutputs;
  const int64_t count = std::min(kOutputs, outputs_ - first);
  float* const lines = scratch<float>(ScratchUse::kPanelLines, kOutputs * size);
  gemm_kernels<float>().pack(lines, size, count,
                             {sums + first * size, kOutputs, 1});
  narrow(lines, dweight + first * size, count * size);
}

}  // namespace hotaru::cpu
