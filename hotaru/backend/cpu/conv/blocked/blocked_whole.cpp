#include "hotaru/backend/cpu/conv/blocked/blocked_whole.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "hotaru/runtime/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/conv/blocked/blocked_whole.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WholeKernel = void (*)(const WholeBlock&);

// Sums of other targets would not fit the registers.
#if HWY_TARGET == HWY_AVX3

using D = hn::CappedTag<float, size_t(kChannelBlock)>;
using V = hn::Vec<D>;
constexpr int64_t kBlock = kChannelBlock;
// Elements by which weights are fetched ahead of their use.
constexpr int64_t kAhead = 512;

/// f(first, end) of what an edge leaves of kSide pixels.
template <int kSide, class F>
HWY_INLINE void for_edge(TileEdge edge, const F& f) {
  using First = std::integral_constant<int, 0>;
  using Second = std::integral_constant<int, 1>;
  using Last = std::integral_constant<int, kSide - 1>;
  using All = std::integral_constant<int, kSide>;
  switch (edge) {
    case TileEdge::kNone:
      return f(First(), All());
    case TileEdge::kFirst:
      return f(Second(), All());
    case TileEdge::kLast:
      return f(First(), Last());
    case TileEdge::kBoth:
      return f(Second(), Last());
    case TileEdge::kNothing:
      return;
  }
}

/// Rows [kTop, kBottom) and columns [kLeft, kRight) of the pixels times the
/// weights of an input block; x is what they meet at the first pixel.
template <int kTop, int kBottom, int kLeft, int kRight, int kStride, int kSide>
HWY_INLINE void multiply(const float* HWY_RESTRICT x, int64_t row,
                         const float* HWY_RESTRICT w, V (&sum)[kSide][kSide]) {
  const D d;
  const float* rows[kSide];
  HWY_UNROLL(8)
  for (int r = kTop; r < kBottom; ++r) rows[r] = x + r * row;
  HWY_UNROLL(4)
  for (int64_t c = 0; c < kBlock; ++c, w += kBlock) {
    hwy::Prefetch(w + kAhead);
    const V weight = hn::LoadU(d, w);
    HWY_UNROLL(8)
    for (int r = kTop; r < kBottom; ++r) HWY_UNROLL(8)
    for (int p = kLeft; p < kRight; ++p)
      sum[r][p] = hn::MulAdd(hn::Set(d, rows[r][p * kStride * kBlock + c]),
                             weight, sum[r][p]);
  }
}

template <int kSide, int kStride>
void whole(const WholeBlock& t) {
  const D d;
  const BlockedSizes& s = t.s;
  V sum[kSide][kSide];
  const V shift = hn::LoadU(d, t.shift);
  HWY_UNROLL(8)
  for (int r = 0; r < kSide; ++r) HWY_UNROLL(8)
  for (int p = 0; p < kSide; ++p) sum[r][p] = shift;

  const int64_t line = s.w * kBlock, row = kStride * line;
  const float* HWY_RESTRICT w = t.w;
  const float* plane = t.x - s.padding_h * line - s.padding_w * kBlock;
  for (int64_t b = channel_blocks(s.c); b > 0; --b, plane += s.h * line)
    for (int64_t i = 0; i < s.kernel_h; ++i) {
      const float* x = plane + i * s.dilation_h * line;
      for (int64_t j = 0; j < s.kernel_w; ++j, w += kBlock * kBlock) {
        for_edge<kSide>(
            t.rows[i], [&](auto top, auto bottom) HOTARU_SIMD_LAMBDA {
              for_edge<kSide>(
                  t.columns[j], [&](auto left, auto right) HOTARU_SIMD_LAMBDA {
                    multiply<top, bottom, left, right, kStride>(x, row, w, sum);
                  });
            });
        x += s.dilation_w * kBlock;
      }
    }

  const V low = hn::Set(d, t.bounds.low), high = hn::Set(d, t.bounds.high);
  HWY_UNROLL(8)
  for (int r = 0; r < kSide; ++r) HWY_UNROLL(8)
  for (int p = 0; p < kSide; ++p) {
    const int64_t at = (r * kSide + p) * kBlock;
    V v = sum[r][p];
    if (t.residual) v = hn::Add(v, hn::LoadU(d, t.residual + at));
    if (t.bounds.any) v = hn::Min(high, hn::Max(low, v));  // NaN stays
    hn::StoreU(v, d, t.y + at);
  }
}

WholeKernel find_whole(int64_t side, int64_t stride) {
  if (stride < 1 || stride > 2) return nullptr;
  switch (side) {
    case 3:
      return stride == 1 ? &whole<3, 1> : &whole<3, 2>;
    case 4:
      return stride == 1 ? &whole<4, 1> : &whole<4, 2>;
    case 5:
      return stride == 1 ? &whole<5, 1> : &whole<5, 2>;
    default:
      return nullptr;
  }
}

#else

WholeKernel find_whole(int64_t, int64_t) {
  return nullptr;
}

#endif

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
namespace {

// Multiply-adds that pay for one more thread.
constexpr int64_t kWorkPerThread = 1 << 19;

using WholeKernel = void (*)(const WholeBlock&);
HWY_EXPORT(find_whole);

WholeKernel find_kernel(const BlockedSizes& s) {
  if (s.out_h != s.out_w || s.stride_h != s.stride_w) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_whole)(s.out_h, s.stride_h);
}

/// Edges of each of the kernel's rows or columns; nothing if more than one
/// pixel lies outside on a side.
std::optional<std::vector<TileEdge>> find_edges(int64_t kernel,
                                                int64_t dilation,
                                                int64_t padding, int64_t stride,
                                                int64_t out, int64_t size) {
  std::vector<TileEdge> edges;
  for (int64_t k = 0; k < kernel; ++k) {
    const TileBounds bounds =
        tile_bounds(k * dilation - padding, stride, out, size);
    if (bounds.edge != TileEdge::kNothing &&
        (bounds.before > 1 || bounds.behind > 1))
      return std::nullopt;
    edges.push_back(bounds.edge);
  }
  return edges;
}

auto row_edges(const BlockedSizes& s) {
  return find_edges(s.kernel_h, s.dilation_h, s.padding_h, s.stride_h, s.out_h,
                    s.h);
}
auto column_edges(const BlockedSizes& s) {
  return find_edges(s.kernel_w, s.dilation_w, s.padding_w, s.stride_w, s.out_w,
                    s.w);
}

}  // namespace

bool BlockedWhole::serves(const KernelCall& call) {
  const auto& a = call.attributes<BlockedConvAttributes>();
  if (a.plain_input || a.depthwise) return false;
  const BlockedSizes s(call);
  return find_kernel(s) && row_edges(s) && column_edges(s);
}

BlockedWhole::BlockedWhole(const KernelCall& call)
    : s_(call),
      ending_(call.attributes<BlockedConvAttributes>().ending),
      kernel_(find_kernel(s_)),
      rows_(*row_edges(s_)),
      columns_(*column_edges(s_)) {}

void BlockedWhole::run(const BlockedConv::Operands& o) const {
  const int64_t blocks = channel_blocks(s_.o);
  const int64_t x_image = channel_blocks(s_.c) * s_.h * s_.w * kChannelBlock;
  const int64_t y_block = s_.out_h * s_.out_w * kChannelBlock;
  const int64_t w_block =
      channel_blocks(s_.c) * s_.taps() * kChannelBlock * kChannelBlock;
  const int64_t work = w_block * s_.out_h * s_.out_w;
  const int64_t grain =
      std::max<int64_t>(1, kWorkPerThread / std::max<int64_t>(1, work));
  // Images of one block follow each other: its weights are near then.
  parallel_for(0, s_.n * blocks, grain, [&](int64_t at, int64_t end) {
    for (; at < end; ++at) {
      const int64_t block = at / s_.n, image = at % s_.n;
      const int64_t to = (image * blocks + block) * y_block;
      kernel_({s_, rows_.data(), columns_.data(), o.x + image * x_image,
               o.w + block * w_block, o.shift + block * kChannelBlock,
               o.residual ? o.residual + to : nullptr, o.y + to,
               ending_.bounds()});
      ending_.finish(o.y + to, s_.out_h * s_.out_w, used_channels(s_.o, block));
    }
  });
}

}  // namespace hotaru::cpu
#endif
