#include "hotaru/backend/cpu/conv/amx/plane_conv.h"

#include <algorithm>

#include "hotaru/backend/cpu/conv/amx/plane_pixels.h"
#include "hotaru/backend/cpu/matmul/amx/gemm_tiles.h"
#include "hotaru/backend/cpu/matmul/amx/packed_tile.h"
#include "hotaru/backend/cpu/matmul/amx/tile_config.h"
#include "hotaru/backend/cpu/matmul/amx/tile_scope.h"
#include "hotaru/backend/cpu/matmul/pair_kernels.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

using detail::divide_up;

// Words of a row of a tile, and rows: pairs of channels.
constexpr int64_t kPairs = amx::kTileWords, kChannels = 2 * kPairs;
// Words of planes that stay in the second-level cache, of two megabytes where
// there is AMX; and positions whose sums do.
constexpr int64_t kPieceWords = 192 * 1024;
constexpr int64_t kSumPositions = 1024;
// Elements that tiles may read behind the last position.
constexpr int64_t kRoom = 4 * kPairs;
// Multiply-adds that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 21;
// Lines of each thread from which they are divided rather than outputs.
constexpr int64_t kLinesPerThread = 4;
// Columns of weights that are turned at once.
constexpr int64_t kColumns = 256;

}  // namespace

PlaneConv PlaneConv::forward(const ConvGeometry& g) {
  return {g,
          PlaneAxis::forward(g, 1),
          PlaneAxis::forward(g, 2),
          g.channels_per_group(),
          g.outputs_per_group(),
          false};
}

PlaneConv PlaneConv::data(const ConvGeometry& g) {
  return {g,
          PlaneAxis::data(g, 1),
          PlaneAxis::data(g, 2),
          g.outputs_per_group(),
          g.channels_per_group(),
          true};
}

PlaneConv::PlaneConv(const ConvGeometry& g, const PlaneAxis& h,
                     const PlaneAxis& w, int64_t channels, int64_t outputs,
                     bool turned)
    : h_(h),
      w_(w),
      images_(g.batch),
      groups_(g.groups),
      channels_(channels),
      outputs_(outputs),
      taps_(volume(g.kernel)),
      kernel_w_(g.kernel[2]),
      turned_(turned),
      pitch_(w.pitch()),
      phases_(int64_t(h.first.size() * w.first.size())),
      blocks_(divide_up(channels, kChannels)) {}

void PlaneConv::run(const BFloat16* x, const BFloat16* weight,
                    const BFloat16* bias, BFloat16* y) const {
  for (int64_t i = 0; i < groups_; ++i)
    run_group(x + i * channels_ * h_.in * w_.in,
              weight + i * channels_ * outputs_ * taps_,
              bias ? bias + i * outputs_ : nullptr,
              y + i * outputs_ * h_.out * w_.out);
}

/// Packs each 32 channels as rows of 16 words, one for each output and tap.
const uint32_t* PlaneConv::pack_weights(const BFloat16* weight) const {
  const int64_t rows = outputs_ * taps_;
  auto* const to =
      scratch<uint32_t>(ScratchUse::kBf16A, blocks_ * rows * kPairs);
  if (turned_) {
    const int64_t parts = divide_up(rows, kColumns);
    parallel_for(0, blocks_ * parts, 8, [&](int64_t at, int64_t end) {
      for (; at < end; ++at) {
        const int64_t begin = at % parts * kColumns;
        pack_turned(weight, {begin, std::min(rows, begin + kColumns)},
                    at / parts, to);
      }
    });
  } else {
    parallel_for(0, outputs_, divide_up(4096, channels_ * taps_),
                 [&](int64_t begin, int64_t end) {
                   pack_outputs(weight, {begin, end}, to);
                 });
  }
  return to;
}

/// Packs rows of weights [outputs, channels, taps].
void PlaneConv::pack_outputs(const BFloat16* weight, Range rows,
                             uint32_t* to) const {
  auto* const lines = scratch<float>(ScratchUse::kPanelLines, kPairs * taps_);
  for (int64_t o = rows.begin; o < rows.end; ++o)
    for (int64_t b = 0; b < blocks_; ++b) {
      const BFloat16* from = weight + o * channels_ * taps_;
      uint32_t* const out = to + (b * outputs_ + o) * taps_ * kPairs;
      if (taps_ == 1) {  // as they lie
        const int64_t count = std::min(kChannels, channels_ - b * kChannels);
        auto* const row = reinterpret_cast<BFloat16*>(out);
        std::copy_n(from + b * kChannels, count, row);
        std::fill(row + count, row + kChannels, BFloat16(0.0f));
        continue;
      }
      for (int64_t p = 0; p < kPairs; ++p) {
        const int64_t c = b * kChannels + 2 * p;
        float* const line = lines + p * taps_;
        if (c >= channels_)
          std::fill_n(line, taps_, 0.0f);
        else
          pair_makers().pair(
              line, taps_, from + c * taps_,
              c + 1 < channels_ ? from + (c + 1) * taps_ : nullptr);
      }
      gemm_kernels<float>().pack(reinterpret_cast<float*>(out), kPairs, taps_,
                                 {lines, taps_, 1});
    }
}

/// Packs weights [channels, outputs, taps]: columns of a block's channels.
void PlaneConv::pack_turned(const BFloat16* weight, Range columns,
                            int64_t block, uint32_t* to) const {
  const int64_t rows = outputs_ * taps_;
  alignas(64) float lines[kPairs * kColumns];
  for (int64_t p = 0; p < kPairs; ++p) {
    const int64_t c = block * kChannels + 2 * p;
    float* const line = lines + p * kColumns;
    const BFloat16* const from = weight + c * rows + columns.begin;
    if (c >= channels_)
      std::fill_n(line, kColumns, 0.0f);
    else
      pair_makers().pair(line, columns.size(), from,
                         c + 1 < channels_ ? from + rows : nullptr);
  }
  uint32_t* const out = to + (block * rows + columns.begin) * kPairs;
  gemm_kernels<float>().pack(reinterpret_cast<float*>(out), kPairs,
                             columns.size(), {lines, kColumns, 1});
}

void PlaneConv::run_group(const BFloat16* x, const BFloat16* weight,
                          const BFloat16* bias, BFloat16* y) const {
  const uint32_t* const weights = pack_weights(weight);
  const int64_t lines = images_ * h_.grid;
  const int64_t parts = divide_up(outputs_, amx::kPackedRows);
  const bool by_lines = lines >= kLinesPerThread * get_num_threads();
  const int64_t items = by_lines ? lines : parts;
  const int64_t work = images_ * h_.grid * w_.grid * channels_ * outputs_ *
                       taps_ / (h_.step * w_.step);
  const int64_t grain =
      std::max<int64_t>(1, kWorkPerThread * items / std::max(work, items));
  parallel_for(0, items, grain, [&](int64_t begin, int64_t end) {
    const amx::TileScope scope(true);
    if (by_lines)
      run_lines(x, weights, bias, y, {begin, end}, {0, outputs_});
    else
      run_lines(x, weights, bias, y, {0, lines},
                {begin * amx::kPackedRows,
                 std::min(outputs_, end * amx::kPackedRows)});
  });
}

int64_t PlaneConv::words(int64_t height, int64_t images) const {
  return blocks_ * kPairs * phases_ * images * height * pitch_;
}

/// The first of some lines, as many as fit: whole images, or rows of one.
PlaneConv::Piece PlaneConv::next_piece(Range lines) const {
  const int64_t image = lines.begin / h_.grid, row = lines.begin % h_.grid;
  if (row == 0 && lines.size() >= h_.grid) {
    const int64_t height = h_.pitch();
    const int64_t fit = kPieceWords / words(height, 1);
    if (fit > 0)
      return {image,
              std::min(fit, lines.size() / h_.grid),
              {0, h_.grid},
              height,
              nullptr};
  }
  int64_t rows = std::min(h_.grid - row, lines.size());
  while (rows > 1 && words(rows + h_.halo, 1) > kPieceWords)
    rows = divide_up(rows, 2);
  return {image, 1, {row, row + rows}, rows + h_.halo, nullptr};
}

void PlaneConv::run_lines(const BFloat16* x, const uint32_t* weights,
                          const BFloat16* bias, BFloat16* y, Range lines,
                          Range outputs) const {
  while (lines.begin < lines.end) {
    Piece piece = next_piece(lines);
    lines.begin += piece.images * piece.rows.size();
    auto* const planes = scratch<uint32_t>(
        ScratchUse::kConvPatches,
        words(piece.height, piece.images) + (h_.halo + 1) * pitch_ + kRoom);
    pack(x, piece, planes);
    piece.x = planes;
    for (int64_t h = 0; h < h_.step; ++h)
      for (int64_t w = 0; w < w_.step; ++w)
        multiply(piece, weights, h, w, bias, y, outputs);
  }
}

void PlaneConv::pack(const BFloat16* x, const Piece& piece,
                     uint32_t* to) const {
  const int64_t plane = h_.in * w_.in, size = piece.height * pitch_;
  const int64_t image = groups_ * channels_ * plane;
  PlanePixels p{.rows = piece.height,
                .pitch = pitch_,
                .h = h_.in,
                .w = w_.in,
                .stride_h = h_.stride,
                .stride_w = w_.stride};
  for (int64_t c = 0; c < blocks_ * kChannels; c += 2) {
    if (c >= channels_) {
      const int64_t count = phases_ * piece.images * size;
      std::fill_n(to, count, 0u);
      to += count;
      continue;
    }
    for (const int64_t h : h_.first)
      for (const int64_t w : w_.first) {
        p.first_h = h + piece.rows.begin * h_.stride;
        p.first_w = w;
        for (int64_t n = 0; n < piece.images; ++n, to += size) {
          const BFloat16* from = x + (piece.image + n) * image + c * plane;
          pack_plane_pairs(p, from, c + 1 < channels_ ? from + plane : nullptr,
                           to);
        }
      }
  }
  std::fill_n(to, (h_.halo + 1) * pitch_ + kRoom, 0u);
}

/// Outputs of a class of a piece.
void PlaneConv::multiply(const Piece& piece, const uint32_t* weights, int64_t h,
                         int64_t w, const BFloat16* bias, BFloat16* y,
                         Range outputs) const {
  const auto &rows = h_.taps[size_t(h)], &columns = w_.taps[size_t(w)];
  const int64_t plane = piece.height * pitch_;
  const int64_t phase = piece.images * plane;
  const int64_t taps = int64_t(rows.size() * columns.size());
  int64_t* const a_offsets =
      scratch<int64_t>(ScratchUse::kTileOffsets, 2 * taps + 1);
  int64_t* const b_offsets = a_offsets + taps;
  int64_t at = 0;
  for (const auto& r : rows)
    for (const auto& c : columns) {
      a_offsets[at] = (r.kernel * kernel_w_ + c.kernel) * kPairs;
      b_offsets[at++] = (r.phase * int64_t(w_.first.size()) + c.phase) * phase +
                        r.shift * pitch_ + c.shift;
    }
  amx::PackedTile t{};
  t.a_row = taps_ * kPairs;
  t.outer = blocks_;
  t.outer_step = outputs_ * taps_ * kPairs;
  t.inner = taps;
  t.offsets = a_offsets;
  t.b_row = phases_ * phase;
  t.b_outer = kPairs * t.b_row;
  t.b_offsets = b_offsets;
  t.b_block = kPairs;
  // Lines between several images count, too.
  const int64_t lines = (piece.images - 1) * piece.height + piece.rows.size();
  const int64_t at_once =
      std::max<int64_t>(1, std::min(lines, kSumPositions / pitch_));
  const int64_t width = divide_up(at_once * pitch_, kPairs) * kPairs + kRoom;
  float* const sums =
      scratch<float>(ScratchUse::kConvOutput, amx::kPackedRows * width);
  t.to_row = width;
  t.to_block = kPairs;
  for (int64_t o = outputs.begin; o < outputs.end; o += amx::kPackedRows) {
    t.rows = int(std::min(amx::kPackedRows, outputs.end - o));
    const int64_t together = t.rows <= amx::kTileRows ? 4 : 2;
    t.a = weights + o * t.a_row;
    for (int64_t line = 0; line < lines; line += at_once) {
      const Range some = {line, std::min(lines, line + at_once)};
      const int64_t count = (some.size() - 1) * pitch_ + w_.grid;
      for (int64_t q = 0; taps > 0 && q < count; q += t.blocks * kPairs) {
        t.blocks = int(std::min(together, divide_up(count - q, kPairs)));
        t.b = piece.x + line * pitch_ + q;
        amx::multiply_tile(t, sums + q, {});
      }
      if (taps == 0) std::fill_n(sums, t.rows * width, 0.0f);
      for (int i = 0; i < t.rows; ++i)
        finish(piece, sums + i * width, some, h, w, o + i, bias, y);
    }
  }
}

/// Sums of lines of a class of an output.
void PlaneConv::finish(const Piece& piece, const float* sums, Range lines,
                       int64_t h, int64_t w, int64_t output,
                       const BFloat16* bias, BFloat16* y) const {
  PlaneEnd end{.cols = w_.outputs(w, 0, w_.grid),
               .pitch = pitch_,
               .bias = bias ? float(bias[output]) : 0.0f,
               .y_row = h_.step * w_.out,
               .y_step = w_.step};
  const int64_t plane = h_.out * w_.out;
  for (int64_t line = lines.begin; line < lines.end;) {
    const int64_t n = line / piece.height, row = line % piece.height;
    const int64_t stop = std::min(lines.end - line, piece.height - row) + row;
    const int64_t first = piece.rows.begin + row;
    end.rows =
        h_.outputs(h, first, std::min(piece.rows.end, piece.rows.begin + stop));
    BFloat16* const to =
        y + ((piece.image + n) * groups_ * outputs_ + output) * plane +
        (first * h_.step + h) * w_.out + w;
    const float* const from = sums + (line - lines.begin) * pitch_;
    // Rows that follow each other without gaps are one.
    if (end.cols == pitch_ && end.y_row == pitch_ && end.y_step == 1) {
      PlaneEnd whole = end;
      whole.cols *= end.rows;
      whole.rows = end.rows > 0 ? 1 : 0;
      end_plane(from, whole, to);
    } else {
      end_plane(from, end, to);
    }
    line += stop - row;
  }
}

}  // namespace hotaru::cpu
