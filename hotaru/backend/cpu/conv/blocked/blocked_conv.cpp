#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"

#include <algorithm>
#include <limits>

#include "hotaru/backend/cpu/matmul/pair_kernels.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

using detail::divide_up;

// Multiply-adds that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 19;
// Pixels whose sums are ended at once.
constexpr int64_t kPixelsToFinish = 64;
// Rows of pixels that pay for one more thread to put them together.
constexpr int64_t kRowsToGather = 64;
// Elements of a cache line.
constexpr int64_t kLine = 16;

}  // namespace

template <class T>
void clear_unused(T* block, int64_t pixels, int64_t used) {
  for (; pixels > 0; --pixels, block += kChannelBlock)
    std::fill(block + used, block + kChannelBlock, T());
}
template void clear_unused(float*, int64_t, int64_t);
template void clear_unused(BFloat16*, int64_t, int64_t);

/// Tiles [begin, end) of an image and a group of output blocks.
struct BlockedConv::Run {
  const Operands& o;
  int64_t image, begin, end;
  int64_t first_output, outputs;  // blocks
  Range depth;                    // input blocks
  const float* next_weights;      // of the run behind this one, or null
  int64_t next_size;

  /// Position of the first output, given the elements of a block of y.
  int64_t out(int64_t blocks, int64_t plane) const {
    return (image * blocks + first_output) * plane;
  }
};

void BlockedConv::run(const Operands& given) const {
  const int64_t tiles = s_.out_h * int64_t(parts_.size());
  if (tiles == 0) return;
  Operands o = given;
  if (gathered_) o.x = gather(o.x);
  o.sums = o.y;
  if (rounds_ && !rounds_at_once_)
    o.sums =
        scratch<float>(ScratchUse::kConvOutput, s_.n * out_blocks_ * s_.out_h *
                                                    s_.out_w * kChannelBlock);
  const int64_t depth = in_blocks_ * s_.taps() * (plain_ ? 1 : words_);
  const int64_t work = parts_[0].count * kChannelBlock * depth *
                       (by_pixels_ ? out_blocks_ : large_);
  const int64_t grain =
      std::max<int64_t>(1, kWorkPerThread / std::max<int64_t>(1, work));
  const int64_t inner = by_pixels_ ? 1 : groups_;
  parallel_for(0, s_.n * inner * tiles, grain, [&](int64_t at, int64_t end) {
    while (at < end) {
      const int64_t which = at / tiles, begin = at - which * tiles;
      const int64_t first = which % inner;
      int64_t count = by_pixels_ ? groups_ : 1;
      if (!by_pixels_ && begin == 0)
        count = std::clamp<int64_t>((end - at) / tiles, 1, groups_ - first);
      const int64_t stop = std::min(tiles, begin + end - at);
      at += stop - begin + (by_pixels_ ? 0 : (count - 1) * tiles);
      run_groups(o, which / inner, {first, first + count}, {begin, stop});
    }
  });
}

int64_t BlockedConv::gathered_size() const {
  return s_.n * all_in_blocks_ * s_.out_h * s_.out_w * words_;
}

/// The pixels of x that are read, next to each other.
const float* BlockedConv::gather(const float* x) const {
  const int64_t rows = s_.n * all_in_blocks_ * source_.rows;
  float* const to = scratch<float>(ScratchUse::kConvPatches, gathered_size());
  const int64_t width = s_.out_w / source_.rows;
  parallel_for(0, rows, kRowsToGather, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i / source_.rows, row = i % source_.rows;
      const float* from =
          x + (plane * source_.h + row * source_.stride_h) * source_.w * words_;
      float* out = to + i * width * words_;
      for (int64_t k = 0; k < width; ++k, out += words_)
        std::copy_n(from + k * source_.stride_w * words_, words_, out);
    }
  });
  return to;
}

/// Tiles of an image, as many at once as the cache holds what they share, each
/// time for all of the groups and all of the depth.
void BlockedConv::run_groups(const Operands& o, int64_t image, Range groups,
                             Range tiles) const {
  const int64_t chunks = divide_up(tiles.end - tiles.begin, tiles_at_once_);
  const auto cut = [&](int64_t i) {
    return tiles.begin + i * (tiles.end - tiles.begin) / chunks;
  };
  const int64_t passes = divide_up(in_blocks_, depth_blocks_);
  const int64_t count = groups.end - groups.begin;
  const int64_t w_block = weights_of_block(), w_output = in_blocks_ * w_block;
  // Groups and depth of step k, and where its weights are.
  const auto run_of = [&](int64_t k) {
    const int64_t pass = by_depth_ ? k / count : k % passes;
    const int64_t group = groups.begin + (by_depth_ ? k % count : k / passes);
    const int64_t first = pass * depth_blocks_;
    return Run{o,
               image,
               0,
               0,
               group * large_ - std::max<int64_t>(0, group - groups_large_),
               group < groups_large_ ? large_ : large_ - 1,
               {first, std::min(first + depth_blocks_, in_blocks_)},
               nullptr,
               0};
  };
  const int64_t steps = passes * count;
  for (int64_t i = 0; i < chunks; ++i)
    for (int64_t k = 0; k < steps; ++k) {
      Run run = run_of(k);
      const bool more = k + 1 < steps;
      const Run next = run_of(more ? k + 1 : 0);
      run.begin = cut(i);
      run.end = cut(i + 1);
      if ((more || i + 1 < chunks) &&
          next.first_output + run.outputs <= out_blocks_) {
        run.next_weights =
            o.w + next.first_output * w_output + next.depth.begin * w_block;
        run.next_size = (next.depth.end - next.depth.begin) * w_block;
      }
      plain_ ? run_plain(run) : run_blocked(run);
    }
}

/// Fields that the tiles of a run have in common.
BlockedTile BlockedConv::common(const Run& run) const {
  BlockedTile t{};
  t.w_block = weights_of_block();
  t.w_output = in_blocks_ * t.w_block;
  t.w = run.o.w + run.first_output * t.w_output + run.depth.begin * t.w_block;
  t.columns = columns_;
  t.shift = run.depth.begin > 0
                ? nullptr
                : run.o.shift + run.first_output * kChannelBlock;
  t.blocks = run.depth.end - run.depth.begin;
  t.finish = run.depth.end == in_blocks_;
  t.rounds = rounds_at_once_;
  t.y_output = s_.out_h * s_.out_w * words_of_sums();
  // Sums that are rounded later get their residual first.
  if (rounds_ == rounds_at_once_) t.bounds = ending_.bounds();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (t.rounds && !t.bounds.any) t.bounds = {true, -kInfinity, kInfinity};
  return t;
}

/// Computes the tile of an output row; t lacks what it writes.
void BlockedConv::compute(const Run& run, const Part& part, int64_t row,
                          BlockedTile& t) const {
  const int64_t to = run.out(out_blocks_, t.y_output) +
                     (row * s_.out_w + part.first) * words_of_sums();
  t.y = run.o.sums + to;
  const bool residual = run.o.residual && rounds_ == rounds_at_once_;
  t.residual = residual ? run.o.residual + to : nullptr;
  part.tiles[large_ - run.outputs](t);
}

/// Ends the sums of a run that are done, many pixels at once: tiles follow each
/// other in memory.
void BlockedConv::finish(const Run& run, const BlockedTile& t, int64_t pixels,
                         bool last, Done& done) const {
  if (done.pixels == 0) done.y = t.y;
  done.pixels += pixels;
  if (done.pixels < kPixelsToFinish && !last) return;
  for (int64_t q = 0; q < run.outputs; ++q) {
    float* const y = done.y + q * t.y_output;
    const int64_t used = used_channels(s_.o, run.first_output + q);
    if (!rounds_)
      ending_.finish(y, done.pixels, used);
    else if (!rounds_at_once_)
      round(run.o, y, done.pixels, used);
    else if (used > 0)
      clear_unused(reinterpret_cast<BFloat16*>(y), done.pixels, used);
  }
  done.pixels = 0;
}

/// Ends the sums of pixels of a block, and rounds them to where they belong.
void BlockedConv::round(const Operands& o, float* sums, int64_t pixels,
                        int64_t used) const {
  const int64_t at = sums - o.sums, n = pixels * kChannelBlock;
  if (o.residual) {
    const auto* more = reinterpret_cast<const BFloat16*>(o.residual) + at;
    for (int64_t i = 0; i < n; ++i) sums[i] += float(more[i]);
  }
  const SumBounds& bounds = ending_.bounds();
  if (bounds.any)  // of NaN: NaN
    for (int64_t i = 0; i < n; ++i) {
      const float low = sums[i] < bounds.low ? bounds.low : sums[i];
      sums[i] = low > bounds.high ? bounds.high : low;
    }
  ending_.finish(sums, pixels, used);
  narrow(sums, reinterpret_cast<BFloat16*>(o.y) + at, n);
}

void BlockedConv::run_blocked(const Run& run) const {
  const int64_t plane = s_.h * s_.w * words_;
  const int64_t parts = int64_t(parts_.size());
  BlockedTile t = common(run);
  Done done;
  const float* const weights = t.w;
  const int64_t w_row = s_.kernel_w * words_ * kChannelBlock;
  const int64_t x_row = s_.dilation_h * s_.w * words_;
  t.pixel = s_.stride_w * words_;
  t.column = s_.dilation_w * words_;
  const int64_t group = run.first_output / blocks_of_group_;
  const float* x = run.o.x + (run.image * all_in_blocks_ + group * in_blocks_ +
                              run.depth.begin) *
                                 plane;
  Ahead ahead = ahead_of(run, t);
  t.ahead_lines = ahead.lines;
  int64_t row = run.begin / parts, i = run.begin % parts;
  for (int64_t left = run.end - run.begin; left > 0; ++row, i = 0) {
    const KernelRows& rows = rows_[size_t(row)];
    t.rows = rows.count;
    t.w = weights + rows.first * w_row;
    const float* from = x + rows.offset * words_;
    for (; i < parts && left > 0; ++i, --left) {
      const Part& part = parts_[size_t(i)];
      t.edges = edges_.data() + i * s_.kernel_w;
      t.block = plane;
      t.row = x_row;
      if (part.copied)
        copy_window(from, part, t);
      else
        t.x = from + part.column * words_;
      t.ahead = ahead.next;
      t.ahead_end = std::min(ahead.end, ahead.next + ahead.step);
      ahead.next = t.ahead_end;
      compute(run, part, row, t);
      if (t.finish) finish(run, t, part.count, left == 1, done);
    }
  }
}

/// The weights of the next run. Each tile fetches a part.
BlockedConv::Ahead BlockedConv::ahead_of(const Run& run,
                                         const BlockedTile& t) const {
  if (!run.next_weights) return {};
  const int64_t lines = divide_up(run.next_size / kLine, run.end - run.begin);
  return {run.next_weights, run.next_weights + run.next_size, lines * kLine,
          // Tiles at borders have fewer rows to do it in.
          divide_up(lines * 3, t.blocks * s_.taps() * 2)};
}

/// Copies what a tile reads, with zeros for the padding before and behind
/// rows; x points at the first row.
void BlockedConv::copy_window(const float* x, const Part& part,
                              BlockedTile& t) const {
  const int64_t w = part.column;
  const int64_t width =
      (part.count - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w + 1;
  const int64_t first = std::clamp<int64_t>(-w, 0, width);
  const int64_t end = std::clamp<int64_t>(s_.w - w, first, width);
  const int64_t size = width * words_;
  float* to = scratch<float>(ScratchUse::kConv, t.blocks * t.rows * size);
  const float* const copy = to;
  for (int64_t b = 0; b < t.blocks; ++b)
    for (int64_t r = 0; r < t.rows; ++r, to += size) {
      const float* from = x + b * t.block + r * t.row + w * words_;
      std::fill_n(to, first * words_, 0.0f);
      std::copy(from + first * words_, from + end * words_,
                to + first * words_);
      std::fill(to + end * words_, to + size, 0.0f);
    }
  t.x = copy;
  t.row = size;
  t.block = t.rows * size;
}

/// Rows of a plain picture are copied with their padding, some at a time.
void BlockedConv::run_plain(const Run& run) const {
  const int64_t parts = int64_t(parts_.size());
  BlockedTile t = common(run);
  t.rows = s_.kernel_h;
  t.pixel = s_.stride_w;
  t.column = s_.dilation_w * (pairs_ ? 2 : 1);
  Done done;
  const bool copied = s_.padding_h > 0 || s_.padding_w > 0 || pairs_;
  const int64_t x = run.image * s_.c * s_.h * s_.w;
  for (int64_t i = run.begin; i < run.end;) {
    const int64_t row = i / parts;
    const int64_t rows =
        std::min(rows_at_once_, (run.end + parts - 1) / parts - row);
    const int64_t end = std::min(run.end, (row + rows) * parts);
    int64_t pitch = s_.w, height = s_.h;
    const float* from = run.o.x + x + row * s_.stride_h * pitch;
    if (copied) from = copy_rows(run.o.x + x, row, rows, pitch, height);
    t.row = s_.dilation_h * pitch;
    t.block = height * pitch;
    for (; i < end; ++i) {
      const Part& part = parts_[size_t(i % parts)];
      t.x = from + (i / parts - row) * s_.stride_h * pitch +
            part.first * s_.stride_w;
      compute(run, part, i / parts, t);
      finish(run, t, part.count, i + 1 == run.end, done);
    }
  }
}

/// Copies what output rows [row, row + rows) of a plain picture read, with
/// padding; tells how long the copy's rows are, and how many there are of a
/// channel.
const float* BlockedConv::copy_rows(const float* x, int64_t row, int64_t rows,
                                    int64_t& pitch, int64_t& height) const {
  pitch = (s_.out_w - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w + 1;
  height = (rows - 1) * s_.stride_h + (s_.kernel_h - 1) * s_.dilation_h + 1;
  const int64_t first = std::min(s_.padding_w, pitch);
  const int64_t end = std::clamp(s_.w + s_.padding_w, first, pitch);
  float* to = scratch<float>(ScratchUse::kConv, s_.c * height * pitch);
  const float* const copy = to;
  // Pairs are of a pixel and the one that the kernel's next column meets.
  const int64_t apart = s_.dilation_w;
  float* const line =
      pairs_ ? scratch<float>(ScratchUse::kConvPatches, pitch + apart)
             : nullptr;
  for (int64_t c = 0; c < s_.c; ++c)
    for (int64_t r = 0; r < height; ++r, to += pitch) {
      const int64_t h = row * s_.stride_h - s_.padding_h + r;
      const bool outside = h < 0 || h >= s_.h;
      if (outside) {
        std::fill_n(to, pitch, 0.0f);
        continue;
      }
      const float* from = x + (c * s_.h + h) * s_.w - s_.padding_w;
      float* const row = pairs_ ? line : to;
      std::fill_n(row, first, 0.0f);
      std::copy(from + first, from + end, row + first);
      std::fill(row + end, row + pitch + (pairs_ ? apart : 0), 0.0f);
      if (pairs_) pair_makers().pair_floats(to, pitch, row, row + apart);
    }
  return copy;
}

}  // namespace hotaru::cpu
