#include "hotaru/backend/cpu/conv/amx/blocked_amx.h"

#include <algorithm>
#include <array>

#include "hotaru/backend/cpu/matmul/amx/gemm_tiles.h"
#include "hotaru/backend/cpu/matmul/amx/packed_tile.h"
#include "hotaru/backend/cpu/matmul/amx/tile_scope.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

using detail::divide_up;

// Words of packed pixels that stay in the second-level cache, of two megabytes
// where there is AMX.
constexpr int64_t kChunkWords = 192 * 1024;
// Words of weights that may be read again for every tile.
constexpr int64_t kNearWeights = 64 * 1024;
// Multiply-adds that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 22;
// Rows of each thread from which they are divided rather than output blocks.
constexpr int64_t kRowsPerThread = 4;
// Words that packing plain windows may write behind them.
constexpr int64_t kRoom = 16;
// Pixels of a tile, and those up to which it takes more blocks.
constexpr int64_t kPixels = amx::kPackedRows, kFewPixels = kPixels / 2;
// Steps of a product from which others' sums are ended meanwhile.
constexpr int64_t kStepsToOverlap = 8;
// Words of weights of an output block a step.
constexpr int64_t kStepWeights = kUnitPair * kChannelBlock;
static_assert(kUnitPair == 16 && kChannelBlock == amx::kPackedColumns);

const uint32_t* words(const float* x) {
  return reinterpret_cast<const uint32_t*>(x);
}

}  // namespace

/// Pieces that are packed at once.
struct BlockedAmx::Chunk {
  static constexpr size_t kMost = 16;
  std::array<Piece, kMost> pieces;
  size_t count = 0;
};

bool has_amx_convolutions() {
  return amx::has_products();
}

bool BlockedAmx::serves(const KernelCall& call) {
  const auto& a = call.attributes<BlockedConvAttributes>();
  return has_amx_convolutions() && !a.depthwise &&
         call.tensor(2).dtype() == DType::kBFloat16 &&
         (!a.plain_input || a.conv.dilation.back() == 1);
}

BlockedAmx::BlockedAmx(const KernelCall& call)
    : s_(call), ending_(call.attributes<BlockedConvAttributes>().ending) {
  const auto& a = call.attributes<BlockedConvAttributes>();
  plain_ = a.plain_input;
  rounds_ = call.tensor(0).dtype() == DType::kBFloat16;
  out_blocks_ = channel_blocks(s_.o);
  all_in_blocks_ = plain_ ? 0 : channel_blocks(s_.c);
  in_blocks_ = a.conv.groups == 1 ? all_in_blocks_
                                  : channel_blocks(s_.c / a.conv.groups);
  blocks_of_group_ =
      plain_ ? out_blocks_ : out_blocks_ * in_blocks_ / all_in_blocks_;
  groups_ = out_blocks_ / blocks_of_group_;
  pairs_ = plain_ ? 1 : divide_up(in_blocks_, 2);
  columns_ = divide_up(s_.kernel_w, 2);
  words_ =
      plain_ ? s_.c * s_.kernel_h * columns_ : pairs_ * s_.taps() * kUnitPair;
  steps_ = divide_up(words_, kUnitPair);
  find_taps();
  together_ = (s_.out_h - 1) * pitch_ + s_.out_w > kFewPixels ? 2 : 4;
  by_rows_ = s_.n * s_.out_h >= kRowsPerThread * get_num_threads() &&
             s_.o * s_.taps() <= 2 * s_.n * s_.h * s_.w;
}

void BlockedAmx::find_taps() {
  pitch_ = s_.out_w;
  if (plain_) {
    for (int64_t i = 0; i < steps_; ++i) taps_.push_back({0, i});
    return;
  }
  pitch_ += divide_up((s_.kernel_w - 1) * s_.dilation_w + 1, s_.stride_w) - 1;
  for (int64_t r = 0; r < s_.kernel_h; ++r)
    for (int64_t k = 0; k < s_.kernel_w; ++k) {
      const int64_t h = r * s_.dilation_h, w = k * s_.dilation_w;
      const Phase phase = {h % s_.stride_h, w % s_.stride_w};
      const auto at = std::find_if(
          phases_.begin(), phases_.end(),
          [&](const Phase& p) { return p.h == phase.h && p.w == phase.w; });
      taps_.push_back(
          {at - phases_.begin(), h / s_.stride_h * pitch_ + w / s_.stride_w});
      if (at == phases_.end()) phases_.push_back(phase);
    }
}

int64_t BlockedAmx::packed_rows(int64_t rows) const {
  return rows - 1 +
         divide_up((s_.kernel_h - 1) * s_.dilation_h + 1, s_.stride_h);
}

int64_t BlockedAmx::packed_words(int64_t rows) const {
  if (plain_) return rows * pitch_ * steps_ * kUnitPair + kRoom;
  return pairs_ * int64_t(phases_.size()) * packed_rows(rows) * pitch_ *
         kUnitPair;
}

void BlockedAmx::run(const BlockedConv::Operands& o) const {
  const int64_t rows = s_.n * s_.out_h;
  if (rows * s_.out_w == 0) return;
  const int64_t work = s_.out_w * kChannelBlock * 2 * words_;
  const auto grain = [](int64_t one) {
    return std::max<int64_t>(1, kWorkPerThread / std::max<int64_t>(1, one));
  };
  // Items are rows or parts of the output blocks, of each group.
  const int64_t parts = divide_up(blocks_of_group_, together_);
  const int64_t items = by_rows_ ? rows : parts;
  parallel_for(0, groups_ * items,
               grain(work * (by_rows_ ? blocks_of_group_ : rows * together_)),
               [&](int64_t at, int64_t end) {
                 const amx::TileScope scope(true);
                 while (at < end) {
                   const int64_t group = at / items, i = at % items;
                   const int64_t stop = std::min(items, i + end - at);
                   const Range blocks = {
                       i * together_,
                       std::min(blocks_of_group_, stop * together_)};
                   if (by_rows_)
                     run_rows(o, group, {i, stop}, {0, blocks_of_group_});
                   else
                     run_rows(o, group, {0, rows}, blocks);
                   at += stop - i;
                 }
               });
}

void BlockedAmx::run_rows(const BlockedConv::Operands& o, int64_t group,
                          Range rows, Range blocks) const {
  while (rows.begin < rows.end) {
    Chunk chunk;
    rows.begin = fill(chunk, rows);
    for (size_t i = 0; i < chunk.count; ++i) pack(o, group, chunk.pieces[i]);
    // Either all weights stay near while tiles pass, or some do.
    const int64_t first = group * blocks_of_group_;
    const bool near = blocks.size() * words_ * kChannelBlock <= kNearWeights;
    const int64_t step = near ? blocks.size() : together_;
    for (int64_t b = blocks.begin; b < blocks.end; b += step)
      for (size_t i = 0; i < chunk.count; ++i)
        multiply(o, chunk.pieces[i],
                 {first + b, first + std::min(b + step, blocks.end)});
  }
}

/// Pieces of the first rows, as many as fit; returns where they end.
int64_t BlockedAmx::fill(Chunk& chunk, Range rows) const {
  int64_t at = rows.begin, size = 0, offsets[Chunk::kMost];
  while (at < rows.end && chunk.count < Chunk::kMost) {
    const int64_t image = at / s_.out_h, first = at % s_.out_h;
    int64_t count = std::min(s_.out_h - first, rows.end - at);
    // The first piece is cut until it fits, others are left for later.
    while (chunk.count == 0 && count > 1 && packed_words(count) > kChunkWords)
      count = divide_up(count, 2);
    const int64_t more = packed_words(count);
    if (chunk.count > 0 && size + more > kChunkWords) break;
    chunk.pieces[chunk.count] = {
        image, {first, first + count}, packed_rows(count), nullptr};
    offsets[chunk.count++] = size;
    size += more;
    at += count;
  }
  auto* const x = scratch<uint32_t>(ScratchUse::kConvPatches, size);
  for (size_t i = 0; i < chunk.count; ++i) chunk.pieces[i].x = x + offsets[i];
  return at;
}

void BlockedAmx::pack(const BlockedConv::Operands& o, int64_t group,
                      const Piece& piece) const {
  const int64_t plane = s_.h * s_.w;
  if (plain_) return pack_plain_rows(o.x + piece.image * s_.c * plane, piece);
  const int64_t block = piece.image * all_in_blocks_ + group * in_blocks_;
  pack_blocked(words(o.x) + block * plane * kUnit, piece);
}

void BlockedAmx::pack_blocked(const uint32_t* x, const Piece& piece) const {
  const int64_t plane = s_.h * s_.w * kUnit;
  uint32_t* to = piece.x;
  for (int64_t b = 0; b < in_blocks_; b += 2, x += 2 * plane)
    for (const Phase& phase : phases_) {
      const int64_t left = phase.w - s_.padding_w;
      const TileBounds in = tile_bounds(left, s_.stride_w, pitch_, s_.w);
      PairLine line{
          nullptr, nullptr, s_.stride_w * kUnit, in.before, pitch_ - in.behind,
          pitch_};
      for (int64_t r = 0; r < piece.packed_rows;
           ++r, to += pitch_ * kUnitPair) {
        const int64_t h =
            (piece.rows.begin + r) * s_.stride_h + phase.h - s_.padding_h;
        const int64_t w = left + in.before * s_.stride_w;
        const bool inside = h >= 0 && h < s_.h && line.first < line.end;
        line.one = inside ? x + (h * s_.w + w) * kUnit : nullptr;
        line.two = inside && b + 1 < in_blocks_ ? line.one + plane : nullptr;
        pack_line(line, to);
      }
    }
}

void BlockedAmx::pack_plain_rows(const float* x, const Piece& piece) const {
  PlainLines lines;
  lines.first = piece.rows.begin * s_.stride_h - s_.padding_h;
  lines.count = (piece.rows.size() - 1) * s_.stride_h +
                (s_.kernel_h - 1) * s_.dilation_h + 1;
  lines.pitch = plain_pitch(s_);
  lines.data =
      scratch<BFloat16>(ScratchUse::kConv, s_.c * lines.count * lines.pitch);
  round_lines(s_, x, lines);
  pack_plain(s_, lines, columns_,
             {piece.rows.begin * s_.out_w, piece.rows.size() * s_.out_w},
             steps_ * kUnitPair, piece.x);
}

/// Sums of a tile that still have to become y: items are pixels of a block.
struct BlockedAmx::Pending {
  const BlockedAmx& conv;
  const BlockedConv::Operands& o;
  const Piece& piece;
  int64_t block;
  PixelRange pixels;
  float* sums;

  static void finish(const void* self, int64_t begin, int64_t end) {
    const auto& p = *static_cast<const Pending*>(self);
    while (begin < end) {
      const int64_t q = begin / p.pixels.count, i = begin % p.pixels.count;
      const int64_t count = std::min(p.pixels.count - i, end - begin);
      p.conv.finish(p.o, p.piece, p.block + q, {p.pixels.first + i, count},
                    p.sums + q * amx::kPackedSums + i * kChannelBlock);
      begin += count;
    }
  }
};

/// Tiles of a piece by some output blocks. The larger ones come first, as a
/// change of size costs time.
void BlockedAmx::multiply(const BlockedConv::Operands& o, const Piece& piece,
                          Range blocks) const {
  const int64_t plane = piece.packed_rows * pitch_;
  int64_t* const offsets =
      scratch<int64_t>(ScratchUse::kTileOffsets, int64_t(taps_.size()));
  for (size_t i = 0; i < taps_.size(); ++i)
    offsets[i] = (taps_[i].phase * plane + taps_[i].shift) * kUnitPair;
  amx::PackedTile t{};
  t.a_row = plain_ ? steps_ * kUnitPair : kUnitPair;
  t.outer = pairs_;
  t.outer_step = int64_t(phases_.size()) * plane * kUnitPair;
  t.inner = int64_t(taps_.size());
  t.offsets = offsets;
  t.b_row = kChannelBlock;
  t.b_step = kStepWeights;
  t.b_block = words_ * kChannelBlock;
  const uint32_t* const w = words(o.w);
  const uint32_t* const rest =
      words_ % kUnitPair ? rest_of(w + blocks.begin * t.b_block, blocks.size())
                         : nullptr;
  const int64_t pixels = (piece.rows.size() - 1) * pitch_ + s_.out_w;
  const int64_t tiles = divide_up(pixels, kPixels);
  alignas(64) float sums[2][4 * amx::kPackedSums];
  Pending pending{*this, o, piece, 0, {0, 0}, sums[0]};
  amx::Meanwhile other{&Pending::finish, &pending, kFewPixels};
  const bool overlaps = t.outer * t.inner >= kStepsToOverlap;
  int64_t at = 0;
  for (int64_t i = 0; i < tiles; ++i, at += t.rows) {
    t.rows = int(pixels / tiles + (i < pixels % tiles ? 1 : 0));
    t.a = piece.x + at * t.a_row;
    for (int64_t b = blocks.begin; b < blocks.end; b += together_) {
      t.b = w + b * t.b_block;
      if (rest) t.rest = rest + (b - blocks.begin) * kStepWeights;
      t.blocks = int(std::min(together_, blocks.end - b));
      // The next blocks' weights come meanwhile: once, or while all tiles pass
      // these blocks.
      const bool once = blocks.size() > together_;
      if (!once || i == 0)
        t.fetch(t.b + together_ * t.b_block,
                together_ * t.b_block * int64_t{sizeof(uint32_t)}, once ? 0 : i,
                once ? 1 : tiles);
      else
        t.lines_ahead = 0;
      float* const to = pending.sums == sums[0] ? sums[1] : sums[0];
      amx::multiply_tile(t, to, other);
      pending.block = b;
      pending.pixels = {at, t.rows};
      pending.sums = to;
      other.count = t.blocks * t.rows;
      if (overlaps) continue;
      other.run_all();
      other.count = 0;
    }
  }
  other.run_all();
}

/// Weights of the last step, with zeros behind.
const uint32_t* BlockedAmx::rest_of(const uint32_t* w, int64_t blocks) const {
  auto* const to =
      scratch<uint32_t>(ScratchUse::kTileRows, blocks * kStepWeights);
  const int64_t begin = (steps_ - 1) * kStepWeights;
  const int64_t count = words_ * kChannelBlock - begin;
  for (int64_t q = 0; q < blocks; ++q) {
    uint32_t* const end = std::copy_n(w + q * words_ * kChannelBlock + begin,
                                      count, to + q * kStepWeights);
    std::fill_n(end, kStepWeights - count, 0u);
  }
  return to;
}

/// Sums of positions, of which those beyond a row's pixels are dropped.
void BlockedAmx::finish(const BlockedConv::Operands& o, const Piece& piece,
                        int64_t block, PixelRange pixels, float* sums) const {
  const int64_t plane = (piece.image * out_blocks_ + block) * s_.out_h;
  int64_t row = piece.rows.begin + pixels.first / pitch_;
  int64_t col = pixels.first % pitch_;
  if (pitch_ == s_.out_w)
    return finish_row(o, (plane + row) * s_.out_w + col, block, pixels.count,
                      sums);
  for (int64_t left = pixels.count; left > 0; ++row, col = 0) {
    const int64_t count = std::min(left, pitch_ - col);
    const int64_t used = std::min(count, s_.out_w - col);
    if (used > 0)
      finish_row(o, (plane + row) * s_.out_w + col, block, used, sums);
    sums += count * kChannelBlock;
    left -= count;
  }
}

/// Ends pixels next to each other, from pixel `at` of y on.
void BlockedAmx::finish_row(const BlockedConv::Operands& o, int64_t at,
                            int64_t block, int64_t pixels, float* sums) const {
  at *= kChannelBlock;
  const int64_t used = used_channels(s_.o, block);
  SumsEnd end{o.shift + block * kChannelBlock, ending_.bounds(), nullptr,
              rounds_};
  if (!rounds_) {
    if (o.residual) end.residual = o.residual + at;
    end_sums(sums, pixels, end, o.y + at);
    return ending_.finish(o.y + at, pixels, used);
  }
  auto* const y = reinterpret_cast<BFloat16*>(o.y) + at;
  if (o.residual)
    end.residual = reinterpret_cast<const BFloat16*>(o.residual) + at;
  if (ending_.bounded()) {
    end_sums(sums, pixels, end, y);
    if (used > 0) clear_unused(y, pixels, used);
  } else {
    end_sums(sums, pixels, end, sums);
    ending_.finish(sums, pixels, used);
    narrow(sums, y, pixels * kChannelBlock);
  }
}

}  // namespace hotaru::cpu
