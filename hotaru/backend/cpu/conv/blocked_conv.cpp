#include "hotaru/backend/cpu/conv/blocked_conv.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

// Multiply-adds that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 19;
// Where fewer tiles would have to be divided, threads share out channels.
constexpr int64_t kTilesPerThread = 8;
// Blocks of weights, of a kilobyte, that stay in cache from call to call.
constexpr int64_t kNearBlocks = 256;
// Pixels whose sums are ended at once.
constexpr int64_t kPixelsToFinish = 64;
// Elements of a cache line.
constexpr int64_t kLine = 16;
// Elements of the copies of rows of plain pictures.
constexpr int64_t kRowElements = 4 * 1024;

int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Which of `count` positions, the first at x and `step` apart, lie in a
/// picture of that size.
std::pair<int64_t, int64_t> inside(int64_t x, int64_t step, int64_t count,
                                   int64_t size) {
  const int64_t first = x >= 0 ? 0 : std::min(count, divide_up(-x, step));
  const int64_t end = x >= size ? 0 : divide_up(size - x, step);
  return {first, std::clamp(end, first, count)};
}

}  // namespace

TileBounds tile_bounds(int64_t x, int64_t step, int64_t count, int64_t size) {
  const auto [before, end] = inside(x, step, count, size);
  const int64_t behind = count - end;
  return {before, behind,
          before + behind >= count ? TileEdge::kNothing
          : before && behind       ? TileEdge::kBoth
          : before                 ? TileEdge::kFirst
          : behind                 ? TileEdge::kLast
                                   : TileEdge::kNone};
}

void clear_unused(float* block, int64_t pixels, int64_t used) {
  for (; pixels > 0; --pixels, block += kChannelBlock)
    std::fill(block + used, block + kChannelBlock, 0.0f);
}

BlockedSizes::BlockedSizes(const KernelCall& call) {
  const auto& a = call.attributes<BlockedConvAttributes>();
  const IntSpan x = call.tensor(1).sizes(), y = call.tensor(0).sizes();
  const bool plane = a.kernel.size() == 2;
  const auto first = [&](const Dims& d, int64_t missing) {
    return plane ? d[0] : missing;
  };
  n = x[0];
  c = a.in_channels;
  o = a.out_channels;
  const size_t at = a.plain_input && !plane ? 1 : 2;  // where height would be
  h = a.plain_input && !plane ? 1 : x[at];
  w = x[at + 1];
  out_h = y[2];
  out_w = y[3];
  kernel_h = first(a.kernel, 1);
  stride_h = first(a.conv.stride, 1);
  padding_h = first(a.conv.padding, 0);
  dilation_h = first(a.conv.dilation, 1);
  kernel_w = a.kernel.back();
  stride_w = a.conv.stride.back();
  padding_w = a.conv.padding.back();
  dilation_w = a.conv.dilation.back();
}

BlockedConv::BlockedConv(const KernelCall& call)
    : s_(call), ending_(call.attributes<BlockedConvAttributes>().ending) {
  const auto& a = call.attributes<BlockedConvAttributes>();
  plain_ = a.plain_input;
  in_blocks_ = plain_ ? s_.c : channel_blocks(s_.c);
  out_blocks_ = channel_blocks(s_.o);
  const bool pointwise = s_.taps() == 1 && s_.stride_h == 1 &&
                         s_.stride_w == 1 && s_.padding_h == 0 &&
                         s_.padding_w == 0;
  if (pointwise) {  // rows don't matter
    s_.w *= s_.h;
    s_.out_w *= s_.out_h;
    s_.h = s_.out_h = 1;
  }
  if (s_.n * s_.out_h * s_.out_w == 0) return;
  choose_tiles();
  choose_order();
  find_edges();
}

/// Tiles that take the least time. In cycles, an input channel of p pixels and
/// b blocks takes p * b multiply-adds, or p + b loads, or b weights from the
/// second-level cache; the rest is what measurements say about tiles for which
/// these come to the same.
void BlockedConv::choose_tiles() {
  const BlockedConvKernels& kernels = blocked_conv_kernels();
  int64_t best = std::numeric_limits<int64_t>::max(), tiles = 0;
  for (int64_t blocks = 1; blocks <= kernels.kMaxBlocks; ++blocks) {
    const int64_t most = kernels.max_pixels[blocks - 1];
    if (most == 0) continue;
    const int64_t groups = divide_up(out_blocks_, blocks);
    int64_t count = divide_up(s_.out_w, most);
    if (s_.out_h == 1 && count > 2) count += count % 2;  // for two threads
    const auto cycles = [&](int64_t pixels, int64_t b) {
      return 20 * std::max({pixels * b, pixels + b, 4 * b}) + 10 * b +
             2 * pixels;
    };
    const int64_t wide = s_.out_w % count ? s_.out_w % count : count;
    const int64_t pixels = divide_up(s_.out_w, count);
    const int64_t size = divide_up(out_blocks_, groups);
    const int64_t many = out_blocks_ - groups * (size - 1);
    int64_t cost = 0;
    for (const auto& [p, of_row] :
         {std::pair(pixels, wide), std::pair(pixels - 1, count - wide)})
      for (const auto& [b, of_all] :
           {std::pair(size, many), std::pair(size - 1, groups - many)})
        cost += of_row * of_all * cycles(p, b);
    if (cost < best) {
      best = cost;
      groups_ = groups;
      large_ = size;
      groups_large_ = many;
      tiles = count;
    }
  }
  const bool one_tap = s_.taps() == 1 && s_.padding_h == 0 &&
                       s_.padding_w == 0 &&
                       out_blocks_ * in_blocks_ <= kNearBlocks;
  const TileForm form = plain_    ? TileForm::kPlain
                        : one_tap ? TileForm::kOneTap
                                  : TileForm::kBlocked;
  for (int64_t i = 0, at = 0; i < tiles; ++i) {
    const int64_t end = (i + 1) * s_.out_w / tiles;
    const int count = int(end - at);
    Part part{at, at * s_.stride_w - s_.padding_w, {}, count, false};
    for (int64_t less = 0; less < 2 && large_ > less; ++less)
      part.tiles[less] = kernels.tile(count, int(large_ - less), form);
    parts_.push_back(part);
    at = end;
  }
}

/// In which order tiles and groups of output blocks meet, so that what they
/// share is in the cache.
void BlockedConv::choose_order() {
  const BlockedConvKernels& kernels = blocked_conv_kernels();
  const int64_t tiles = int64_t(parts_.size());
  by_pixels_ = s_.n * s_.out_h * tiles >= kTilesPerThread &&
               s_.o * s_.taps() <= 2 * s_.h * s_.w;
  const int64_t depth = s_.taps() * kChannelBlock * kChannelBlock * large_;
  const bool once = s_.out_h * tiles == 1;
  depth_blocks_ =
      plain_ || once
          ? in_blocks_
          : std::clamp<int64_t>(kernels.near_weights / depth, 1, in_blocks_);
  // Each group reads the picture again. It is cut where that costs more than
  // to read the weights again for each piece.
  const int64_t picture = s_.out_h * std::min(s_.stride_h, s_.kernel_h) *
                          s_.out_w * std::min(s_.stride_w, s_.kernel_w) *
                          in_blocks_ * (plain_ ? 1 : kChannelBlock);
  const int64_t pieces = divide_up(picture, kernels.near_picture);
  const int64_t weights =
      out_blocks_ * in_blocks_ * s_.taps() * kChannelBlock * kChannelBlock;
  const bool cut = !plain_ && pieces * weights < groups_ * picture;
  tiles_at_once_ = divide_up(s_.out_h * tiles, cut ? pieces : 1);
  const int64_t width =
      (s_.out_w - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w + 1;
  rows_at_once_ = std::clamp<int64_t>(
      (kRowElements / (s_.c * width) - (s_.kernel_h - 1) * s_.dilation_h) /
          s_.stride_h,
      1, s_.out_h);
}

void BlockedConv::find_edges() {
  if (plain_) return;
  for (int64_t row = 0; row < s_.out_h; ++row) {
    const int64_t h = row * s_.stride_h - s_.padding_h;
    const auto [first, end] = inside(h, s_.dilation_h, s_.kernel_h, s_.h);
    rows_.push_back({first, end - first, (h + first * s_.dilation_h) * s_.w});
  }
  for (Part& part : parts_)
    for (int64_t k = 0; k < s_.kernel_w; ++k) {
      const int64_t x = part.column + k * s_.dilation_w;
      const TileBounds bounds = tile_bounds(x, s_.stride_w, part.count, s_.w);
      part.copied |= bounds.edge != TileEdge::kNothing &&
                     (bounds.before > 1 || bounds.behind > 1);
      edges_.push_back(bounds.edge);
    }
  // What copies contain is all inside.
  for (size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].copied)
      std::fill_n(edges_.begin() + int64_t(i) * s_.kernel_w, s_.kernel_w,
                  TileEdge::kNone);
}

/// Tiles [begin, end) of an image and a group of output blocks.
struct BlockedConv::Run {
  const Operands& o;
  int64_t image, begin, end;
  int64_t first_output, outputs;  // blocks
  bool last;                      // nothing of another group follows

  /// Position of the first output, given the elements of a block of y.
  int64_t out(int64_t blocks, int64_t plane) const {
    return (image * blocks + first_output) * plane;
  }
};

void BlockedConv::run(const Operands& o) const {
  const int64_t tiles = s_.out_h * int64_t(parts_.size());
  if (tiles == 0) return;
  const int64_t depth = in_blocks_ * s_.taps() * (plain_ ? 1 : kChannelBlock);
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
      run_groups(o, which / inner, {first, first + count}, {begin, stop},
                 by_pixels_ || at == end);
    }
  });
}

/// Tiles of an image, as many at once as read what the cache holds, each time
/// for all of the groups; `last`: no other group follows.
void BlockedConv::run_groups(const Operands& o, int64_t image, Range groups,
                             Range tiles, bool last) const {
  const int64_t chunks = divide_up(tiles.end - tiles.begin, tiles_at_once_);
  const auto cut = [&](int64_t i) {
    return tiles.begin + i * (tiles.end - tiles.begin) / chunks;
  };
  for (int64_t i = 0; i < chunks; ++i)
    for (int64_t group = groups.begin; group < groups.end; ++group) {
      const int64_t first =
          group * large_ - std::max<int64_t>(0, group - groups_large_);
      const int64_t outputs = group < groups_large_ ? large_ : large_ - 1;
      const Run run{o,
                    image,
                    cut(i),
                    cut(i + 1),
                    first,
                    outputs,
                    last && group + 1 == groups.end};
      plain_ ? run_plain(run) : run_blocked(run);
    }
}

/// What the tiles of a run have in common.
BlockedTile BlockedConv::common(const Run& run) const {
  BlockedTile t{};
  t.w_block = s_.taps() * kChannelBlock * (plain_ ? 1 : kChannelBlock);
  t.w_output = in_blocks_ * t.w_block;
  t.w = run.o.w + run.first_output * t.w_output;
  t.columns = s_.kernel_w;
  t.shift = run.o.shift + run.first_output * kChannelBlock;
  t.y_output = s_.out_h * s_.out_w * kChannelBlock;
  t.bounds = ending_.bounds();
  return t;
}

/// Computes the tile of an output row; t lacks what it writes.
void BlockedConv::compute(const Run& run, const Part& part, int64_t row,
                          BlockedTile& t) const {
  const int64_t to = run.out(out_blocks_, t.y_output) +
                     (row * s_.out_w + part.first) * kChannelBlock;
  t.y = run.o.y + to;
  t.residual = run.o.residual ? run.o.residual + to : nullptr;
  part.tiles[large_ - run.outputs](t);
}

/// Ends the sums of a run that are done, many pixels at once: tiles follow each
/// other in memory.
void BlockedConv::finish(const Run& run, const BlockedTile& t, int64_t pixels,
                         bool last, Done& done) const {
  if (done.pixels == 0) done.y = t.y;
  done.pixels += pixels;
  if (done.pixels < kPixelsToFinish && !last) return;
  for (int64_t q = 0; q < run.outputs; ++q)
    ending_.finish(done.y + q * t.y_output, done.pixels,
                   used_channels(s_.o, run.first_output + q));
  done.pixels = 0;
}

void BlockedConv::run_blocked(const Run& run) const {
  const int64_t plane = s_.h * s_.w * kChannelBlock;
  const int64_t parts = int64_t(parts_.size());
  BlockedTile t = common(run);
  Done done;
  const float* const weights = t.w;
  const int64_t w_row = s_.kernel_w * kChannelBlock * kChannelBlock;
  const int64_t x_row = s_.dilation_h * s_.w * kChannelBlock;
  t.pixel = s_.stride_w * kChannelBlock;
  t.column = s_.dilation_w * kChannelBlock;
  for (int64_t at = 0; at < in_blocks_; at += depth_blocks_) {
    if (at > 0) t.shift = nullptr;
    t.blocks = std::min(depth_blocks_, in_blocks_ - at);
    t.finish = at + t.blocks == in_blocks_;
    const float* x = run.o.x + (run.image * in_blocks_ + at) * plane;
    Ahead ahead = ahead_of(run, at + t.blocks, t);
    t.ahead_lines = ahead.lines;
    int64_t row = run.begin / parts, i = run.begin % parts;
    for (int64_t left = run.end - run.begin; left > 0; ++row, i = 0) {
      const KernelRows& rows = rows_[size_t(row)];
      t.rows = rows.count;
      t.w = weights + at * t.w_block + rows.first * w_row;
      const float* from = x + rows.offset * kChannelBlock;
      for (; i < parts && left > 0; ++i, --left) {
        const Part& part = parts_[size_t(i)];
        t.edges = edges_.data() + i * s_.kernel_w;
        t.block = plane;
        t.row = x_row;
        if (part.copied)
          copy_window(from, part, t);
        else
          t.x = from + part.column * kChannelBlock;
        t.ahead = ahead.next;
        t.ahead_end = std::min(ahead.end, ahead.next + ahead.step);
        ahead.next = t.ahead_end;
        compute(run, part, row, t);
        if (t.finish) finish(run, t, part.count, left == 1, done);
      }
    }
  }
}

/// The weights that come after those of a pass over a run's tiles; `next` is
/// the first input block that is not in the pass. Each tile fetches a part.
BlockedConv::Ahead BlockedConv::ahead_of(const Run& run, int64_t next,
                                         const BlockedTile& t) const {
  const bool other = next == in_blocks_;
  const int64_t first = run.first_output + (other ? run.outputs : 0);
  if (first + run.outputs > out_blocks_ || (other && run.last)) return {};
  const int64_t from = other ? 0 : next;
  const int64_t size = std::min(depth_blocks_, in_blocks_ - from) * t.w_block;
  const int64_t lines = divide_up(size / kLine, run.end - run.begin);
  const float* begin = run.o.w + first * t.w_output + from * t.w_block;
  return {begin, begin + size, lines * kLine,
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
  const int64_t size = width * kChannelBlock;
  float* to = scratch<float>(ScratchUse::kConv, t.blocks * t.rows * size);
  const float* const copy = to;
  for (int64_t b = 0; b < t.blocks; ++b)
    for (int64_t r = 0; r < t.rows; ++r, to += size) {
      const float* from = x + b * t.block + r * t.row + w * kChannelBlock;
      std::fill_n(to, first * kChannelBlock, 0.0f);
      std::copy(from + first * kChannelBlock, from + end * kChannelBlock,
                to + first * kChannelBlock);
      std::fill(to + end * kChannelBlock, to + size, 0.0f);
    }
  t.x = copy;
  t.row = size;
  t.block = t.rows * size;
}

/// Rows of a plain picture are copied with their padding, some at a time.
void BlockedConv::run_plain(const Run& run) const {
  const int64_t parts = int64_t(parts_.size());
  BlockedTile t = common(run);
  t.blocks = in_blocks_;
  t.rows = s_.kernel_h;
  t.finish = true;
  t.pixel = s_.stride_w;
  t.column = s_.dilation_w;
  Done done;
  const bool padded = s_.padding_h > 0 || s_.padding_w > 0;
  const int64_t x = run.image * s_.c * s_.h * s_.w;
  for (int64_t i = run.begin; i < run.end;) {
    const int64_t row = i / parts;
    const int64_t rows =
        std::min(rows_at_once_, (run.end + parts - 1) / parts - row);
    const int64_t end = std::min(run.end, (row + rows) * parts);
    int64_t pitch = s_.w, height = s_.h;
    const float* from = run.o.x + x + row * s_.stride_h * pitch;
    if (padded) from = copy_rows(run.o.x + x, row, rows, pitch, height);
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

/// What output rows [row, row + rows) of a plain picture read, with padding;
/// how long the copy's rows are, and how many there are of a channel.
const float* BlockedConv::copy_rows(const float* x, int64_t row, int64_t rows,
                                    int64_t& pitch, int64_t& height) const {
  pitch = (s_.out_w - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w + 1;
  height = (rows - 1) * s_.stride_h + (s_.kernel_h - 1) * s_.dilation_h + 1;
  const int64_t first = std::min(s_.padding_w, pitch);
  const int64_t end = std::clamp(s_.w + s_.padding_w, first, pitch);
  float* to = scratch<float>(ScratchUse::kConv, s_.c * height * pitch);
  const float* const copy = to;
  for (int64_t c = 0; c < s_.c; ++c)
    for (int64_t r = 0; r < height; ++r, to += pitch) {
      const int64_t h = row * s_.stride_h - s_.padding_h + r;
      const bool outside = h < 0 || h >= s_.h;
      const float* from = x + (c * s_.h + h) * s_.w - s_.padding_w;
      std::fill_n(to, outside ? pitch : first, 0.0f);
      if (outside) continue;
      std::copy(from + first, from + end, to + first);
      std::fill(to + end, to + pitch, 0.0f);
    }
  return copy;
}

}  // namespace hotaru::cpu
