#include "hotaru/backend/cpu/pool/blocked_pool.h"

#include <algorithm>
#include <limits>

#include "hotaru/backend/common/conv/blocked.h"
#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/backend/common/resample/resample.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pool/blocked_pool.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, size_t(kChannelBlock)>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(D()));

HWY_INLINE V greater(V old, V x) {
  return hn::IfThenElse(hn::Or(hn::Gt(x, old), hn::IsNaN(x)), x, old);
}

HWY_INLINE V load(const float* p) {
  return hn::LoadU(D(), p);
}
HWY_INLINE void store(V v, float* p) {
  hn::StoreU(v, D(), p);
}

/// As floats, of which one is stored again.
HWY_INLINE V load(const BFloat16* p) {
  return hotaru::HWY_NAMESPACE::load_bf16(D(), p);
}
HWY_INLINE void store(V v, BFloat16* p) {
  const hn::RebindToUnsigned<D> words;
  const hn::Rebind<uint16_t, D> half;
  hn::StoreU(hn::TruncateTo(half, hn::ShiftRight<16>(hn::BitCast(words, v))),
             half, reinterpret_cast<uint16_t*>(p));
}

HWY_INLINE void store_rounded(V v, float* p) {
  store(v, p);
}
HWY_INLINE void store_rounded(V v, BFloat16* p) {
  const hn::Rebind<uint16_t, D> half;
  hn::StoreU(hn::TruncateTo(half, hotaru::HWY_NAMESPACE::rounded(v)), half,
             reinterpret_cast<uint16_t*>(p));
}

/// f(place in x) for what a row's window contains.
template <class T, class F>
HWY_INLINE void for_window(const T* x, int64_t w, const PoolRow& row,
                           PoolWindow columns, const F& f) {
  const int64_t step = row.column_step;
  const int64_t count = step == 1 ? columns.end - columns.begin : 0;
  for (int64_t h = row.rows.begin; h < row.rows.end; h += row.row_step) {
    const T* at = x + (h * w + columns.begin) * kChannelBlock;
    if (count == 2 || count == 3) {  // as most are
      f(at);
      f(at + kChannelBlock);
      if (count == 3) f(at + 2 * kChannelBlock);
      continue;
    }
    for (int64_t k = columns.begin; k < columns.end; k += step)
      f(at + (k - columns.begin) * kChannelBlock);
  }
}

/// Tells whether windows of a row overlap so much that the greatest of each
/// column are worth keeping.
HWY_INLINE bool is_dense(const PoolRow& row) {
  const int64_t taps = (row.rows.end - row.rows.begin) / row.row_step;
  return row.column_step == 1 && taps >= 2 && row.count > 1 &&
         row.columns[row.count - 1].end - row.columns[0].begin <=
             row.count + row.count / 2;
}

/// The greatest of dense windows: of each column first. Not where there may be
/// NaN, which sums tell: then false. Zeros of either sign are equal.
template <class T>
bool max_columns(const T* x, int64_t w, const PoolRow& row, float* columns,
                 T* y) {
  const D d;
  const int64_t begin = row.columns[0].begin;
  const int64_t end = row.columns[row.count - 1].end;
  for (int64_t v = 0; v < kChannelBlock; v += kLanes) {
    V sum = hn::Zero(d);
    for (int64_t k = begin; k < end; ++k) {
      const T* at = x + v + (row.rows.begin * w + k) * kChannelBlock;
      V best = load(at);
      sum = hn::Add(sum, best);
      for (int64_t h = row.rows.begin + row.row_step; h < row.rows.end;
           h += row.row_step) {
        at += row.row_step * w * kChannelBlock;
        const V value = load(at);
        best = hn::Max(value, best);
        sum = hn::Add(sum, value);
      }
      hn::StoreU(best, d, columns + (k - begin) * kLanes);
    }
    if (!hn::AllFalse(d, hn::IsNaN(sum))) return false;
    for (int64_t i = 0; i < row.count; ++i) {
      const float* at = columns + (row.columns[i].begin - begin) * kLanes;
      V best = hn::LoadU(d, at);
      for (int64_t k = row.columns[i].begin + 1; k < row.columns[i].end; ++k)
        best = hn::Max(hn::LoadU(d, at += kLanes), best);
      store(best, y + v + i * kChannelBlock);
    }
  }
  return true;
}

/// The greatest. Sums tell whether there may be NaN: then it is looked for.
template <class T>
void max_row(const T* x, int64_t w, const PoolRow& row, T* y) {
  const D d;
  if (is_dense(row) &&
      max_columns(x, w, row,
                  scratch<float>(ScratchUse::kConvPatches, w * kLanes), y))
    return;
  const V low = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < row.count; ++i, y += kChannelBlock)
    for (int64_t v = 0; v < kChannelBlock; v += kLanes) {
      V best = low, sum = hn::Zero(d);
      for_window(x + v, w, row, row.columns[i],
                 [&](const T* at) HOTARU_SIMD_LAMBDA {
                   const V value = load(at);
                   best = hn::Max(value, best);  // of equals the first
                   sum = hn::Add(sum, value);
                 });
      if (!hn::AllFalse(d, hn::IsNaN(sum))) {
        best = low;
        for_window(x + v, w, row, row.columns[i],
                   [&](const T* at)
                       HOTARU_SIMD_LAMBDA { best = greater(best, load(at)); });
      }
      store(best, y + v);
    }
}

/// Their mean.
template <class T>
void mean_row(const T* x, int64_t w, const PoolRow& row, T* y) {
  const D d;
  for (int64_t i = 0; i < row.count; ++i, y += kChannelBlock) {
    const V divisor = hn::Set(d, row.row_divisor * row.divisors[i]);
    for (int64_t v = 0; v < kChannelBlock; v += kLanes) {
      V sum = hn::Zero(d);
      for_window(x + v, w, row, row.columns[i],
                 [&](const T* at)
                     HOTARU_SIMD_LAMBDA { sum = hn::Add(sum, load(at)); });
      store_rounded(hn::Div(sum, divisor), y + v);
    }
  }
}

/// Means of a block's pixels, in four sums.
void mean_block(const float* x, int64_t pixels, float* y) {
  const D d;
  for (int64_t v = 0; v < kChannelBlock; v += kLanes) {
    V sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    const float* from = x + v;
    int64_t p = 0;
    for (; p + 4 <= pixels; p += 4, from += 4 * kChannelBlock) {
      HWY_UNROLL(4)
      for (int i = 0; i < 4; ++i)
        sum[i] = hn::Add(sum[i], hn::LoadU(d, from + i * kChannelBlock));
    }
    for (; p < pixels; ++p, from += kChannelBlock)
      sum[0] = hn::Add(sum[0], hn::LoadU(d, from));
    const V all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
    hn::StoreU(hn::Div(all, hn::Set(d, float(pixels))), d, y + v);
  }
}

BlockedPoolKernels find_pool_kernels() {
  return {&max_row<float>, &mean_row<float>, &max_row<BFloat16>,
          &mean_row<BFloat16>, &mean_block};
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(find_pool_kernels);

namespace {

const BlockedPoolKernels& pool_kernels() {
  static const BlockedPoolKernels table =
      HWY_DYNAMIC_DISPATCH(find_pool_kernels)();
  return table;
}

/// Makes m windows over n positions, of a kernel of `taps` positions.
std::vector<PoolWindow> windows(int64_t n, int64_t m, int64_t taps,
                                int64_t stride, int64_t padding,
                                int64_t dilation) {
  std::vector<PoolWindow> all;
  for (int64_t o = 0; o < m; ++o) {
    int64_t begin = o * stride - padding;
    const int64_t end = std::min(begin + (taps - 1) * dilation + 1, n);
    if (begin < 0) begin += detail::divide_up(-begin, dilation) * dilation;
    all.push_back({begin, end});
  }
  return all;
}

/// Divisors of the sums along dimension i.
std::vector<float> divisors(const ResampleAttributes& a, size_t i, int64_t n,
                            const std::vector<PoolWindow>& windows) {
  std::vector<float> all;
  for (size_t o = 0; o < windows.size(); ++o) {
    const int64_t begin = int64_t(o) * a.stride[i] - a.padding[i];
    const int64_t padded =
        std::min(begin + a.kernel[i], n + a.padding[i]) - begin;
    const int64_t inside = windows[o].end - windows[o].begin;
    const int64_t given = i == 0 ? a.divisor : 1;
    all.push_back(float(a.divisor ? given : a.include_pad ? padded : inside));
  }
  return all;
}

}  // namespace

BlockedPool::BlockedPool(const KernelCall& call) {
  const IntSpan x = call.tensor(1).sizes();
  planes_ = x[0] * x[1];
  h_ = x[2];
  w_ = x[3];
  windows_[0] = {{0, 1}};
  divisors_[0] = {1.0f};
}

BlockedPool BlockedPool::maximum(const KernelCall& call) {
  BlockedPool pool(call);
  const auto& a = call.attributes<MaxPoolAttributes>();
  const IntSpan x = call.tensor(1).sizes(), y = call.tensor(0).sizes();
  for (size_t i = 0, at = 2 - size_t(a.dims); at < 2; ++i, ++at) {
    pool.windows_[at] = windows(x[2 + at], y[2 + at], a.kernel[i], a.stride[i],
                                a.padding[i], a.dilation[i]);
    pool.step_[at] = a.dilation[i];
  }
  return pool;
}

BlockedPool BlockedPool::average(const KernelCall& call) {
  BlockedPool pool(call);
  pool.mean_ = true;
  const auto& a = call.attributes<ResampleAttributes>();
  const IntSpan x = call.tensor(1).sizes(), y = call.tensor(0).sizes();
  for (size_t i = 0, at = 2 - size_t(a.dims); at < 2; ++i, ++at) {
    pool.windows_[at] = windows(x[2 + at], y[2 + at], a.kernel[i], a.stride[i],
                                a.padding[i], 1);
    pool.divisors_[at] = divisors(a, i, x[2 + at], pool.windows_[at]);
  }
  return pool;
}

void BlockedPool::run(const Tensor& x, const Tensor& y) const {
  const BlockedPoolKernels& kernels = pool_kernels();
  if (x.dtype() == DType::kBFloat16)
    run(x.data<BFloat16>(), y.data<BFloat16>(),
        mean_ ? kernels.mean_row_bf16 : kernels.max_row_bf16);
  else
    run(x.data<float>(), y.data<float>(),
        mean_ ? kernels.mean_row : kernels.max_row);
}

template <class T>
void BlockedPool::run(const T* x, T* y, BlockedPoolKernels::Row<T> row) const {
  const int64_t rows = int64_t(windows_[0].size());
  const int64_t columns = int64_t(windows_[1].size());
  if (rows == 0 || columns == 0) return;
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / (columns * kChannelBlock));
  parallel_for(0, planes_ * rows, grain, [&](int64_t at, int64_t end) {
    for (; at < end; ++at) {
      const auto r = size_t(at % rows);
      row(x + at / rows * h_ * w_ * kChannelBlock, w_,
          {windows_[0][r], step_[0], windows_[1].data(), step_[1], columns,
           mean_ ? divisors_[0][r] : 1, divisors_[1].data()},
          y + at * columns * kChannelBlock);
    }
  });
}

void blocked_mean(const float* x, int64_t images, int64_t channels,
                  int64_t pixels, float* y) {
  const int64_t blocks = channel_blocks(channels);
  const auto mean = pool_kernels().mean_block;
  const int64_t size = pixels * kChannelBlock;
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, size));
  parallel_for(0, images * blocks, grain, [&](int64_t at, int64_t end) {
    for (; at < end; ++at) {
      float block[kChannelBlock];
      mean(x + at * size, pixels, block);
      const int64_t first = at % blocks * kChannelBlock;
      std::copy_n(block, std::min(kChannelBlock, channels - first),
                  y + at / blocks * channels + first);
    }
  });
}

}  // namespace hotaru::cpu
#endif
