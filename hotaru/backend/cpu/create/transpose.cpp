#include "hotaru/backend/cpu/create/transpose.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/create/transpose.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<uint32_t, 8>;
using V = hn::Vec<D>;
constexpr int64_t kSide = int64_t(hn::MaxLanes(D()));

#if HWY_TARGET != HWY_SCALAR
/// Four vectors of rows become four of columns, in each 128 bits on their own.
HWY_INLINE void turn(V& a, V& b, V& c, V& d) {
  const D words;
  const hn::RepartitionToWide<D> wide;
  const auto p = hn::BitCast(wide, hn::InterleaveLower(words, a, b));
  const auto q = hn::BitCast(wide, hn::InterleaveLower(words, c, d));
  const auto r = hn::BitCast(wide, hn::InterleaveUpper(words, a, b));
  const auto s = hn::BitCast(wide, hn::InterleaveUpper(words, c, d));
  a = hn::BitCast(words, hn::InterleaveLower(wide, p, q));
  b = hn::BitCast(words, hn::InterleaveUpper(wide, p, q));
  c = hn::BitCast(words, hn::InterleaveLower(wide, r, s));
  d = hn::BitCast(words, hn::InterleaveUpper(wide, r, s));
}
#endif

/// out[r * out_step + c] = x[c * x_step + r] for all r, c < kSide.
HWY_INLINE void square(uint32_t* HWY_RESTRICT out, int64_t out_step,
                       const uint32_t* HWY_RESTRICT x, int64_t x_step) {
  const D d;
  V v[kSide];
  HWY_UNROLL(8)
  for (int64_t c = 0; c < kSide; ++c) v[c] = hn::LoadU(d, x + c * x_step);
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kSide == 4) {
    turn(v[0], v[1], v[2], v[3]);
  } else if constexpr (kSide == 8) {
    turn(v[0], v[1], v[2], v[3]);
    turn(v[4], v[5], v[6], v[7]);
    HWY_UNROLL(4)
    for (int64_t i = 0; i < 4; ++i) {
      const V low = v[i], high = v[4 + i];
      v[i] = hn::ConcatLowerLower(d, high, low);
      v[4 + i] = hn::ConcatUpperUpper(d, high, low);
    }
  }
#endif
  HWY_UNROLL(8)
  for (int64_t r = 0; r < kSide; ++r) hn::StoreU(v[r], d, out + r * out_step);
}

/// The same for any matrix. All of a line of x is used at once, and few pages
/// are touched before they are touched again.
void transpose(uint32_t* out, int64_t out_step, const uint32_t* x,
               int64_t x_step, int64_t rows, int64_t columns) {
  constexpr int64_t kRows = 16, kColumns = 256;
  for (int64_t first = 0; first < columns; first += kColumns) {
    const int64_t last = std::min(columns, first + kColumns);
    for (int64_t r0 = 0; r0 < rows; r0 += kRows) {
      const int64_t end = std::min(rows, r0 + kRows);
      int64_t c = first;
      for (; c + kSide <= last; c += kSide) {
        int64_t r = r0;
        for (; r + kSide <= end; r += kSide)
          square(out + r * out_step + c, out_step, x + c * x_step + r, x_step);
        for (; r < end; ++r)
          for (int64_t i = c; i < c + kSide; ++i)
            out[r * out_step + i] = x[i * x_step + r];
      }
      for (; c < last; ++c)
        for (int64_t r = r0; r < end; ++r)
          out[r * out_step + c] = x[c * x_step + r];
    }
  }
}

void (*find_transpose())(uint32_t*, int64_t, const uint32_t*, int64_t, int64_t,
                         int64_t) {
  return &transpose;
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
namespace {

HWY_EXPORT(find_transpose);

// Fewer elements are as soon copied one by one.
constexpr int64_t kFewest = 64;
// Rows of a matrix that a thread takes at once.
constexpr int64_t kStrip = 64;

void turn(uint32_t* out, int64_t out_step, const uint32_t* x, int64_t x_step,
          int64_t rows, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(find_transpose)
  ()(out, out_step, x, x_step, rows, columns);
}

/// Tiles whose lines, read and written, the first-level cache holds.
void turn(uint64_t* out, int64_t out_step, const uint64_t* x, int64_t x_step,
          int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile)
    for (int64_t c0 = 0; c0 < columns; c0 += kTile)
      for (int64_t r = r0; r < std::min(rows, r0 + kTile); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + kTile); ++c)
          out[r * out_step + c] = x[c * x_step + r];
}

}  // namespace

std::optional<TransposeCopy> TransposeCopy::of(const Tensor& out,
                                               const Tensor& x) {
  const size_t item = itemsize(x.dtype());
  if (out.dtype() != x.dtype() || x.dtype() == DType::kBool ||
      (item != 4 && item != 8) || !same(out.sizes(), x.sizes()) ||
      x.numel() < kFewest)
    return {};
  // Dimensions that both step along like one are one.
  std::vector<Dim> dims;
  for (size_t i = 0; i < size_t(x.dim()); ++i) {
    const Dim d{x.sizes()[i], out.strides()[i], x.strides()[i]};
    if (d.size == 1) continue;
    Dim* const last = dims.empty() ? nullptr : &dims.back();
    if (last && last->out == d.size * d.out && last->x == d.size * d.x)
      *last = {last->size * d.size, d.out, d.x};
    else
      dims.push_back(d);
  }
  const auto where = [&](int64_t Dim::*step) {
    return std::find_if(dims.begin(), dims.end(),
                        [&](const Dim& d) { return d.*step == 1; });
  };
  const auto rows = where(&Dim::x), columns = where(&Dim::out);
  if (rows == dims.end() || columns == dims.end() || rows == columns ||
      rows->size < 4 || columns->size < 4 ||
      rows->size * columns->size < kFewest)
    return {};
  TransposeCopy copy;
  copy.rows_ = *rows;
  copy.columns_ = *columns;
  for (auto d = dims.begin(); d != dims.end(); ++d) {
    if (d == rows || d == columns) continue;
    copy.sizes_.push_back(d->size);
    copy.out_steps_.push_back(d->out);
    copy.x_steps_.push_back(d->x);
  }
  return copy;
}

template <class Word>
void TransposeCopy::run(Word* out, const Word* x) const {
  int64_t matrices = 1;
  for (const int64_t size : sizes_) matrices *= size;
  const int64_t strips = (rows_.size + kStrip - 1) / kStrip;
  const int64_t grain =
      std::max<int64_t>(1, kGrainSize / (kStrip * columns_.size));
  parallel_for(0, matrices * strips, grain, [&](int64_t at, int64_t end) {
    for (; at < end; ++at) {
      const int64_t first = at % strips * kStrip;
      int64_t to = first * rows_.out, from = first;
      for (size_t d = sizes_.size(), rest = size_t(at / strips); d-- > 0;) {
        const int64_t place = int64_t(rest % size_t(sizes_[d]));
        to += place * out_steps_[d];
        from += place * x_steps_[d];
        rest /= size_t(sizes_[d]);
      }
      turn(out + to, rows_.out, x + from, columns_.x,
           std::min(kStrip, rows_.size - first), columns_.size);
    }
  });
}

void TransposeCopy::run(const Tensor& out, const Tensor& x) const {
  if (itemsize(x.dtype()) == 4)
    run(out.data<uint32_t>(), x.data<uint32_t>());
  else
    run(out.data<uint64_t>(), x.data<uint64_t>());
}

}  // namespace hotaru::cpu
#endif
