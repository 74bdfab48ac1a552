#include <algorithm>
#include <limits>
#include <utility>

#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"
#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/threads/parallel.h"

// How a convolution in blocks of channels goes: its tiles, and their order.

namespace hotaru::cpu {
namespace {

using detail::divide_up;

// Where fewer tiles would have to be divided, threads share out channels.
constexpr int64_t kTilesPerThread = 8;
// Blocks of weights, of a kilobyte, that stay in cache from call to call.
constexpr int64_t kNearBlocks = 256;
// Outputs for which pixels that lie apart are put together first, and how many
// elements may be.
constexpr int64_t kOutputsToGather = 64;
constexpr int64_t kMostGathered = int64_t{4} << 20;
// Elements of the copies of rows of plain pictures.
constexpr int64_t kRowElements = int64_t{12} * 1024;

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

BlockedSizes::BlockedSizes(const ConvGeometry& g)
    : n(g.batch),
      c(g.in_channels),
      o(g.out_channels),
      h(g.in[1]),
      w(g.in[2]),
      out_h(g.out()[1]),
      out_w(g.out()[2]),
      kernel_h(g.kernel[1]),
      kernel_w(g.kernel[2]),
      stride_h(g.stride[1]),
      stride_w(g.stride[2]),
      padding_h(g.padding[1]),
      padding_w(g.padding[2]),
      dilation_h(g.dilation[1]),
      dilation_w(g.dilation[2]) {}

BlockedForm::BlockedForm(const KernelCall& call) : sizes(call) {
  const auto& a = call.attributes<BlockedConvAttributes>();
  ending = a.ending;
  groups = a.conv.groups;
  plain = a.plain_input;
  pairs = call.tensor(2).dtype() == DType::kBFloat16;
  rounds = call.tensor(0).dtype() == DType::kBFloat16;
}

BlockedConv::BlockedConv(const BlockedForm& form)
    : s_(form.sizes),
      ending_(form.ending),
      plain_(form.plain),
      pairs_(form.pairs),
      rounds_(form.rounds) {
  columns_ = plain_ && pairs_ ? divide_up(s_.kernel_w, 2) : s_.kernel_w;
  words_ = pairs_ ? kChannelBlock / 2 : kChannelBlock;
  const int64_t of_group = s_.c / form.groups;
  all_in_blocks_ = plain_ ? s_.c : channel_blocks(s_.c);
  in_blocks_ = form.groups == 1 ? all_in_blocks_ : channel_blocks(of_group);
  out_blocks_ = channel_blocks(s_.o);
  blocks_of_group_ = out_blocks_ * in_blocks_ / all_in_blocks_;
  const bool pointwise =
      s_.taps() == 1 && s_.padding_h == 0 && s_.padding_w == 0;
  gathered_ = pointwise && !plain_ && (s_.stride_h > 1 || s_.stride_w > 1) &&
              s_.o >= kOutputsToGather && gathered_size() <= kMostGathered;
  if (gathered_) {
    source_ = {s_.h, s_.w, s_.stride_h, s_.stride_w, s_.out_h};
    s_.h = s_.out_h;
    s_.w = s_.out_w;
    s_.stride_h = s_.stride_w = 1;
  }
  if (pointwise && s_.stride_h == 1 && s_.stride_w == 1) {  // rows don't matter
    s_.w *= s_.h;
    s_.out_w *= s_.out_h;
    s_.h = s_.out_h = 1;
  }
  if (s_.n * s_.out_h * s_.out_w == 0) return;
  choose_tiles();
  choose_order();
  const bool can_round = pairs_ || (plain_ && simd_has_bf16_products());
  rounds_at_once_ =
      rounds_ && can_round && depth_blocks_ == in_blocks_ && ending_.bounded();
  find_edges();
}

/// Tiles that take the least time. In cycles, an input channel of p pixels and
/// b blocks takes p * b multiply-adds, or p + b loads, or b weights from the
/// second-level cache; the rest is what measurements say about tiles for which
/// these come to the same.
void BlockedConv::choose_tiles() {
  const BlockedConvKernels& kernels = this->kernels();
  int64_t best = std::numeric_limits<int64_t>::max(), tiles = 0;
  for (int64_t blocks = 1; blocks <= kernels.kMaxBlocks; ++blocks) {
    const int64_t most = kernels.max_pixels[blocks - 1];
    // A tile's blocks read the same inputs.
    const bool grouped = blocks_of_group_ < out_blocks_;
    if (most == 0 || (grouped && blocks_of_group_ % blocks != 0) ||
        (plain_ && blocks > kernels.max_plain_blocks))
      continue;
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
  const bool one_tap =
      s_.taps() == 1 && s_.padding_h == 0 && s_.padding_w == 0 &&
      out_blocks_ * in_blocks_ * words_ <= kNearBlocks * kChannelBlock;
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
  const BlockedConvKernels& kernels = this->kernels();
  const int64_t tiles = int64_t(parts_.size());
  by_pixels_ = s_.n * s_.out_h * tiles >= kTilesPerThread &&
               s_.o * s_.taps() <= 2 * s_.h * s_.w;
  const int64_t depth = s_.taps() * words_ * kChannelBlock * large_;
  const bool once = s_.out_h * tiles == 1;
  depth_blocks_ =
      plain_ || once
          ? in_blocks_
          : std::clamp<int64_t>(kernels.near_weights / depth, 1, in_blocks_);
  // Each group reads the picture again. It is cut where that costs more than
  // to read the weights again for each piece.
  const int64_t picture = s_.out_h * std::min(s_.stride_h, s_.kernel_h) *
                          s_.out_w * std::min(s_.stride_w, s_.kernel_w) *
                          in_blocks_ * (plain_ ? 1 : words_);
  const int64_t pieces = divide_up(picture, kernels.near_picture);
  const int64_t weights =
      out_blocks_ * in_blocks_ * s_.taps() * words_ * kChannelBlock;
  const bool cut = !plain_ && pieces * weights < groups_ * picture;
  tiles_at_once_ = divide_up(s_.out_h * tiles, cut ? pieces : 1);
  order_by_depth(picture, weights,
                 weights + picture +
                     (cut ? (pieces - 1) * weights : (groups_ - 1) * picture));
  const int64_t width =
      (s_.out_w - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w + 1;
  rows_at_once_ = std::clamp<int64_t>(
      (kRowElements / (s_.c * width) - (s_.kernel_h - 1) * s_.dilation_h) /
          s_.stride_h,
      1, s_.out_h);
}

/// Passes over the depth go outermost where that reads less: then the cache
/// holds the sums of all groups and the part of the picture that a pass reads.
/// `elements` is what the other order reads.
void BlockedConv::order_by_depth(int64_t picture, int64_t weights,
                                 int64_t elements) {
  const int64_t passes = divide_up(in_blocks_, depth_blocks_);
  if (passes == 1 || groups_ == 1) return;
  const int64_t sums = s_.out_h * s_.out_w * out_blocks_ * kChannelBlock;
  const int64_t pieces =
      divide_up(picture / passes + sums, kernels().near_sums);
  // Sums come and go with each pass, but from a nearer cache.
  if (pieces * weights + picture + passes * sums / 2 >= elements) return;
  by_depth_ = true;
  tiles_at_once_ = divide_up(s_.out_h * int64_t(parts_.size()), pieces);
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
  // Contents of copies are all inside.
  for (size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].copied)
      std::fill_n(edges_.begin() + int64_t(i) * s_.kernel_w, s_.kernel_w,
                  TileEdge::kNone);
}

}  // namespace hotaru::cpu
