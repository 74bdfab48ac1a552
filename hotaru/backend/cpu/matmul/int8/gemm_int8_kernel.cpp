#include "hotaru/backend/cpu/matmul/int8/gemm_int8_kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>
#include <utility>

#ifndef HOTARU_NO_FUSED
#error "needs -ffp-contract=off: see hotaru_own_flags in hotaru/CMakeLists.txt"
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/int8/gemm_int8_kernel.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/matmul/tile_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As of floats, see gemm_kernel.cpp: besides the sums, two vectors of B, one
// of A and one product are in registers.
#if HWY_TARGET == HWY_AVX3
constexpr int kMaxRows = 13;
#elif HWY_ARCH_ARM
constexpr int kMaxRows = 8;
#else
constexpr int kMaxRows = 6;
#endif

using D32 = hn::ScalableTag<int32_t>;
using V32 = hn::Vec<D32>;
constexpr int kLanes = int(hn::MaxLanes(D32()));
constexpr int kWidth = 2 * kLanes;

/// sum plus both products of each lane's pairs.
HWY_INLINE V32 add_products(V32 a, V32 b, V32 sum) {
  const D32 d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  const hn::Repartition<int16_t, D32> d16;
  V32 unused = sum;
  const V32 products = hn::ReorderWidenMulAccumulate(
      d, hn::BitCast(d16, a), hn::BitCast(d16, b), hn::Zero(d), unused);
  // Sums of integers may be added in any order, and compilers do, which leaves
  // no registers; nor do they see that a sum can stay in its own.
  asm("vpaddd %1, %0, %0" : "+v"(sum.raw) : "v"(products.raw));
  return sum;
#else
  static_cast<void>(d);
  const auto low = [](V32 v) HOTARU_SIMD_LAMBDA {
    return hn::ShiftRight<16>(hn::ShiftLeft<16>(v));
  };
  sum = hn::Add(sum, hn::Mul(low(a), low(b)));
  return hn::Add(sum, hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b)));
#endif
}

/// Bytes of sums. Beyond 1,024 all scaled values saturate; within, adding the
/// magic number rounds to integers, which are then its low bits.
template <class S>
HWY_INLINE V32 to_byte(V32 sum, S scale, int32_t zero) {
  const D32 d;
  const hn::RebindToFloat<D32> df;
  constexpr float kMagic = 0x1.8p23f;
  constexpr int32_t kMagicBits = 0x4b400000;
  auto v = hn::Mul(hn::ConvertTo(df, sum), scale);
  v = hn::Min(hn::Max(v, hn::Set(df, -1024.0f)), hn::Set(df, 1024.0f));
  const V32 bits = hn::BitCast(d, hn::Add(v, hn::Set(df, kMagic)));
  return hn::Add(bits, hn::Set(d, zero - kMagicBits));
}

template <class T>
HWY_INLINE void store_bytes(V32 v, T* to) {
  const hn::Rebind<T, D32> d8;
  hn::StoreU(hn::DemoteTo(d8, v), d8, to);
}

/// `count` sums from there on, the other lanes zero.
HWY_INLINE V32 load_sums(const int32_t* from, size_t count) {
  const D32 d;
  if (count == kLanes) return hn::LoadU(d, from);
  HWY_ALIGN int32_t rest[kLanes] = {};
  std::copy_n(from, count, rest);
  return hn::Load(d, rest);
}

/// Rows of sums as integers, column by column of vectors.
template <class T>
void finish_integers(const int32_t* sums, int rows, int64_t stride, int64_t n,
                     const Int8Output& out) {
  const D32 d;
  const hn::RebindToFloat<D32> df;
  const auto divisor = hn::Set(df, out.divisor);
  for (int64_t j = 0; j < n; j += kLanes) {
    const size_t count = size_t(std::min<int64_t>(kLanes, n - j));
    HWY_ALIGN float scales[kLanes] = {};
    if (out.column_scale) std::copy_n(out.column_scale + j, count, scales);
    const auto column = hn::Load(df, scales);
    const int32_t* from = sums + j;
    T* to = static_cast<T*>(out.data) + j;
    for (int i = 0; i < rows; ++i, from += stride, to += out.stride) {
      V32 v = load_sums(from, count);
      if (out.bias) v = hn::Add(v, hn::Set(d, out.bias[i]));
      HWY_ALIGN T rest[kLanes];
      T* at = count == kLanes ? to : rest;
      if constexpr (std::is_same_v<T, int32_t>) {
        hn::StoreU(v, d, at);
      } else {
        auto scale = column;
        if (out.row_scale) {
          scale = hn::Set(df, out.row_scale[i]);
          if (out.column_scale)
            scale = hn::Div(hn::Mul(scale, column), divisor);
        }
        store_bytes(to_byte(v, scale, out.zero), at);
      }
      if (at == rest) std::copy_n(rest, count, to);
    }
  }
}

/// Rows of sums as floats, column by column of vectors. Two roundings: this
/// file is compiled without contraction.
void finish_floats(const int32_t* sums, int rows, int64_t stride, int64_t n,
                   const Int8Output& out) {
  const hn::RebindToFloat<D32> df;
  for (int64_t j = 0; j < n; j += kLanes) {
    const size_t count = size_t(std::min<int64_t>(kLanes, n - j));
    HWY_ALIGN float scales[kLanes] = {}, more[kLanes] = {};
    std::copy_n(out.column_scale + j, count, scales);
    if (out.column_bias) std::copy_n(out.column_bias + j, count, more);
    const auto scale = hn::Load(df, scales), bias = hn::Load(df, more);
    const bool biased = out.column_bias != nullptr;
    const int32_t* from = sums + j;
    float* to = static_cast<float*>(out.data) + j;
    for (int i = 0; i < rows; ++i, from += stride, to += out.stride) {
      auto made = hn::Mul(hn::ConvertTo(df, load_sums(from, count)), scale);
      // -0 + 0 would be 0.
      if (biased) made = hn::Add(made, bias);
      if (count == kLanes)
        hn::StoreU(made, df, to);
      else
        hn::BlendedStore(made, hn::FirstN(df, count), df, to);
    }
  }
}

void finish_rows(const int32_t* sums, int rows, int64_t stride, int64_t n,
                 const Int8Output& out) {
  switch (out.kind) {
    case Int8Output::Kind::kSums:
      return finish_integers<int32_t>(sums, rows, stride, n, out);
    case Int8Output::Kind::kFloats:
      return finish_floats(sums, rows, stride, n, out);
    case Int8Output::Kind::kUnsigned:
      return finish_integers<uint8_t>(sums, rows, stride, n, out);
    case Int8Output::Kind::kSigned:
      return finish_integers<int8_t>(sums, rows, stride, n, out);
  }
}

struct EvenPairs {
  const int32_t* HWY_RESTRICT b;

  HWY_INLINE const int32_t* row() const { return b; }
  HWY_INLINE void next() { b += kWidth; }
};

struct OffsetPairs {
  const int32_t* HWY_RESTRICT b;
  const int64_t* HWY_RESTRICT offsets;

  HWY_INLINE const int32_t* row() const { return b + *offsets; }
  HWY_INLINE void next() { ++offsets; }
};

template <int kRows, int kVectors, class B>
void tile(int cols, int64_t pairs, const int32_t* HWY_RESTRICT a, int64_t a_row,
          B b, const Int8Output& out) {
  const D32 d;
  V32 sum[kRows][kVectors];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(2)
  for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  TileRows<int32_t> factor(a, a_row);
  for (int64_t p = 0; p < pairs; ++p) {
    V32 bs[kVectors];
    const int32_t* HWY_RESTRICT row = b.row();
    HWY_UNROLL(2)
    for (int j = 0; j < kVectors; ++j) bs[j] = hn::LoadU(d, row + j * kLanes);
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      const V32 ai = hn::Set(d, *factor.at(i));
      HWY_UNROLL(2)
      for (int j = 0; j < kVectors; ++j)
        sum[i][j] = add_products(ai, bs[j], sum[i][j]);
    }
    b.next();
    factor.next(1);
  }
  // One code for all that may become of them, which would be the larger part
  // of each tile's.
  constexpr int kCols = kVectors * kLanes;
  HWY_ALIGN int32_t rows[kRows * kCols];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(2)
  for (int j = 0; j < kVectors; ++j)
    hn::Store(sum[i][j], d, rows + i * kCols + j * kLanes);
  finish_rows(rows, kRows, kCols, std::min(cols, kCols), out);
}

template <int kVectors, class B>
using TileFn = void (*)(int, int64_t, const int32_t*, int64_t, B,
                        const Int8Output&);

template <int kVectors, class B, size_t... kRow>
constexpr std::array<TileFn<kVectors, B>, sizeof...(kRow)> tiles(
    std::index_sequence<kRow...>) {
  return {&tile<int(kRow) + 1, kVectors, B>...};
}

template <class B>
HWY_INLINE void any_tile(int rows, int cols, int64_t pairs, const int32_t* a,
                         int64_t a_row, B b, const Int8Output& out) {
  using Rows = std::make_index_sequence<kMaxRows>;
  static constexpr auto kOne = tiles<1, B>(Rows());
  static constexpr auto kTwo = tiles<2, B>(Rows());
  const size_t row = size_t(rows - 1);
  (cols > kLanes ? kTwo : kOne)[row](cols, pairs, a, a_row, b, out);
}

void even_tile(int rows, int cols, int64_t pairs, const int32_t* a,
               int64_t a_row, const int32_t* b, const Int8Output& out) {
  any_tile(rows, cols, pairs, a, a_row, EvenPairs{b}, out);
}

void offset_tile(int rows, int cols, int64_t pairs, const int32_t* a,
                 int64_t a_row, const int32_t* b, const int64_t* offsets,
                 const Int8Output& out) {
  any_tile(rows, cols, pairs, a, a_row, OffsetPairs{b, offsets}, out);
}

void widen(int16_t* HWY_RESTRICT to, int64_t n,
           const uint8_t* HWY_RESTRICT from, int flip, int zero) {
  for (int64_t i = 0; i < n; ++i) to[i] = int16_t((from[i] ^ flip) - zero);
}

/// Makes of two bytes the pair, flipped, without their zero point.
HWY_INLINE int32_t pair_of(int first, int second, int flip, int zero) {
  const int low = (first ^ flip) - zero, high = (second ^ flip) - zero;
  return int32_t((uint32_t(low) & 0xFFFFu) | uint32_t(high) << 16);
}

/// Both halves of each lane.
HWY_INLINE V32 twice(V32 v) {
  const D32 d;
  return hn::Or(hn::And(v, hn::Set(d, 0xFFFF)), hn::ShiftLeft<16>(v));
}

/// Zeros have both halves.
HWY_INLINE V32 without_zeros(V32 both, V32 zeros) {
  const D32 d;
#if HWY_TARGET == HWY_SCALAR
  const int v = hn::GetLane(both), z = hn::GetLane(zeros);
  return hn::Set(d, pair_of(v & 0xFFFF, v >> 16, 0, z & 0xFFFF));
#else
  const hn::Repartition<int16_t, D32> d16;
  return hn::BitCast(d,
                     hn::Sub(hn::BitCast(d16, both), hn::BitCast(d16, zeros)));
#endif
}

/// A vector of pairs; flips have both halves, too.
HWY_INLINE V32 pairs_at(const uint8_t* first, const uint8_t* second, V32 flips,
                        V32 zeros) {
  const D32 d;
  const hn::Rebind<uint8_t, D32> d8;
  const V32 low = hn::PromoteTo(d, hn::LoadU(d8, first));
  const V32 high = hn::PromoteTo(d, hn::LoadU(d8, second));
  const V32 both = hn::Or(low, hn::ShiftLeft<16>(high));
  return without_zeros(hn::Xor(both, flips), zeros);
}

void pair(int32_t* HWY_RESTRICT to, int64_t n, const uint8_t* first,
          const uint8_t* second, int flip, int zero) {
  const D32 d;
  const V32 flips = twice(hn::Set(d, flip)), zeros = twice(hn::Set(d, zero));
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(pairs_at(first + i, second + i, flips, zeros), d, to + i);
  if (i == n) return;
  if (n >= kLanes) {  // the last vector again, in part
    i = n - kLanes;
    hn::StoreU(pairs_at(first + i, second + i, flips, zeros), d, to + i);
    return;
  }
  for (; i < n; ++i) to[i] = pair_of(first[i], second[i], flip, zero);
}

void pair_even(int32_t* HWY_RESTRICT to, int64_t n, const uint8_t* first,
               const uint8_t* second, int flip, int zero) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const D32 d;
  const V32 flips = twice(hn::Set(d, flip)), zeros = twice(hn::Set(d, zero));
  const hn::Rebind<uint16_t, D32> d16;
  const hn::Repartition<uint8_t, decltype(d16)> d8;
  // The lower byte of each two; that behind the last one is not there.
  const auto even = [&](const uint8_t* at) HOTARU_SIMD_LAMBDA {
    const auto both = hn::BitCast(d16, hn::LoadU(d8, at));
    return hn::PromoteTo(d, hn::And(both, hn::Set(d16, uint16_t{0xFF})));
  };
  for (; i + kLanes < n; i += kLanes) {
    const V32 both =
        hn::Or(even(first + 2 * i), hn::ShiftLeft<16>(even(second + 2 * i)));
    hn::StoreU(without_zeros(hn::Xor(both, flips), zeros), d, to + i);
  }
#endif
  for (; i < n; ++i) to[i] = pair_of(first[2 * i], second[2 * i], flip, zero);
}

void gather(int32_t* HWY_RESTRICT to, int64_t pairs,
            const int32_t* HWY_RESTRICT b, const int64_t* offsets, int runs,
            const int64_t* from, const int64_t* at) {
  const D32 d;
  for (int64_t p = 0; p < pairs; ++p, to += kWidth) {
    const int32_t* row = b + offsets[p];
    for (int r = 0; r < runs; ++r) {
      const V32 v0 = hn::LoadU(d, row + from[r]);
      const V32 v1 = hn::LoadU(d, row + from[r] + kLanes);
      hn::StoreU(v0, d, to + at[r]);
      hn::StoreU(v1, d, to + at[r] + kLanes);
    }
  }
}

/// A pair of rows of a panel's cols first columns.
HWY_INLINE void pack_pair(int32_t* HWY_RESTRICT to, int cols,
                          const uint8_t* first, const uint8_t* second, int flip,
                          const int32_t* zero) {
  const D32 d;
  const V32 flips = twice(hn::Set(d, flip));
  if (cols >= kWidth) {
    HWY_UNROLL(2)
    for (int j = 0; j < kWidth; j += kLanes)
      hn::StoreU(
          pairs_at(first + j, second + j, flips, twice(hn::LoadU(d, zero + j))),
          d, to + j);
    return;
  }
  for (int j = 0; j < cols; ++j)
    to[j] = pair_of(first[j], second[j], flip, zero[j]);
  std::fill(to + cols, to + kWidth, 0);
}

void pack(int32_t* HWY_RESTRICT to, int64_t k, int64_t cols, const uint8_t* b,
          int64_t row_stride, int flip, const int32_t* zero) {
  const int64_t panel = (k + 1) / 2 * kWidth;
  constexpr int64_t kAhead = 16;
  for (int64_t left = 0; left < cols; left += kInt8Together) {
    const int64_t right = std::min(cols, left + kInt8Together);
    for (int64_t p = 0; p < k; p += 2) {
      const uint8_t* first = b + p * row_stride;
      const uint8_t* second = p + 1 < k ? first + row_stride : first;
      // Each row lies on a page of its own, which no machine foresees.
      if (p + kAhead < k) {
        const uint8_t* ahead = first + kAhead * row_stride + left;
        for (int64_t j = 0; j < right - left; j += 64)
          for (int r = 0; r < 2; ++r) hwy::Prefetch(ahead + r * row_stride + j);
      }
      for (int64_t j = left; j < right; j += kWidth) {
        int32_t* at = to + j / kWidth * panel + p / 2 * kWidth;
        pack_pair(at, int(std::min<int64_t>(kWidth, cols - j)), first + j,
                  second + j, flip, zero + j);
        if (p + 1 == k)
          for (int i = 0; i < kWidth; ++i)
            at[i] = int32_t(uint32_t(at[i]) & 0xFFFF);
      }
    }
  }
}

// Columns by which rows of sums in the order of stream() are rounded up.
constexpr int64_t kStreamUnit = 64;
// Rows of B that stream() reads side by side.
constexpr int kTogether = 8;

#if HWY_TARGET == HWY_SCALAR

template <class T>
void stream_typed(int rows, int64_t n, int64_t k, const int32_t* a,
                  int64_t a_row, const ByteMatrix& b, int32_t* sums) {
  const int64_t step = (n + kStreamUnit - 1) / kStreamUnit * kStreamUnit;
  for (int i = 0; i < rows; ++i, a += a_row, sums += step) {
    std::fill_n(sums, n, 0);
    for (int64_t p = 0; p < k; ++p) {
      const T* row = reinterpret_cast<const T*>(b.data + p * b.row_stride);
      const int x = int16_t(a[p / 2] >> (p % 2 ? 16 : 0));
      for (int64_t j = 0; j < n; ++j)
        sums[j] = int32_t(uint32_t(sums[j]) + uint32_t(x * row[j]));
    }
  }
}

template <class T>
void dot_typed(int64_t n, int64_t k, const int16_t* a, const ByteMatrix& b,
               int32_t* sums) {
  for (int64_t j = 0; j < n; ++j) {
    const T* column = reinterpret_cast<const T*>(b.data + j * b.col_stride);
    uint32_t sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += uint32_t(a[p] * column[p]);
    sums[j] = int32_t(sum);
  }
}

#else

using D16 = hn::Repartition<int16_t, D32>;

/// Adds the products of kPairs pairs of rows with 16 bits' lanes of columns.
/// The sums of each 128 bits of columns lie in the lower half and the upper
/// half's vector, as interleaving leaves them.
template <class T, int kRows, int kPairs>
HWY_INLINE void stream_step(const V32 (&a)[kRows][kPairs],
                            const T* const (&rows)[2 * kPairs], int64_t j,
                            int32_t* HWY_RESTRICT sums, int64_t step) {
  const D32 d;
  const D16 d16;
  const hn::Rebind<T, D16> d8;
  V32 low[kRows], high[kRows];
  HWY_UNROLL(2)
  for (int i = 0; i < kRows; ++i) {
    low[i] = hn::Load(d, sums + i * step + j);
    high[i] = hn::Load(d, sums + i * step + j + kLanes);
  }
  HWY_UNROLL(4)
  for (int q = 0; q < kPairs; ++q) {
    const auto x = hn::PromoteTo(d16, hn::LoadU(d8, rows[2 * q] + j));
    const auto y = hn::PromoteTo(d16, hn::LoadU(d8, rows[2 * q + 1] + j));
    const V32 lower = hn::BitCast(d, hn::InterleaveLower(d16, x, y));
    const V32 upper = hn::BitCast(d, hn::InterleaveUpper(d16, x, y));
    HWY_UNROLL(2)
    for (int i = 0; i < kRows; ++i) {
      low[i] = add_products(a[i][q], lower, low[i]);
      high[i] = add_products(a[i][q], upper, high[i]);
    }
  }
  HWY_UNROLL(2)
  for (int i = 0; i < kRows; ++i) {
    hn::Store(low[i], d, sums + i * step + j);
    hn::Store(high[i], d, sums + i * step + j + kLanes);
  }
}

template <class T, int kRows, int kPairs>
HWY_INLINE void stream_pairs(int64_t n, const int32_t* a, int64_t a_row,
                             const T* b, int64_t ldb, bool odd, int32_t* sums,
                             int64_t step) {
  const D32 d;
  V32 as[kRows][kPairs];
  const T* rows[2 * kPairs];
  HWY_UNROLL(4)
  for (int q = 0; q < kPairs; ++q) {
    HWY_UNROLL(2)
    for (int i = 0; i < kRows; ++i) as[i][q] = hn::Set(d, a[i * a_row + q]);
    rows[2 * q] = b + 2 * q * ldb;
    rows[2 * q + 1] = odd ? rows[2 * q] : rows[2 * q] + ldb;
  }
  int64_t j = 0;
  for (; j + kWidth <= n; j += kWidth)
    stream_step<T, kRows, kPairs>(as, rows, j, sums, step);
  if (j == n) return;
  T rest[2 * kPairs][kWidth] = {};
  const T* copies[2 * kPairs];
  for (int r = 0; r < 2 * kPairs; ++r) {
    std::copy_n(rows[r] + j, n - j, rest[r]);
    copies[r] = rest[r];
  }
  stream_step<T, kRows, kPairs>(as, copies, 0, sums + j, step);
}

/// Brings sums into the columns' order.
HWY_INLINE void straighten(int32_t* sums, int64_t n) {
  HWY_ALIGN int32_t copy[kWidth];
  for (int64_t j = 0; j < n; j += kWidth) {
    std::copy_n(sums + j, kWidth, copy);
    for (int block = 0; block < kLanes / 4; ++block) {
      std::copy_n(copy + 4 * block, 4, sums + j + 8 * block);
      std::copy_n(copy + kLanes + 4 * block, 4, sums + j + 8 * block + 4);
    }
  }
}

template <class T, int kRows>
void stream_rows(int64_t n, int64_t k, const int32_t* a, int64_t a_row,
                 const ByteMatrix& matrix, int32_t* sums) {
  const int64_t step = (n + kStreamUnit - 1) / kStreamUnit * kStreamUnit;
  const T* b = reinterpret_cast<const T*>(matrix.data);
  const int64_t ldb = matrix.row_stride;
  std::fill_n(sums, kRows * step, 0);
  int64_t p = 0;
  for (; p + kTogether <= k; p += kTogether)
    stream_pairs<T, kRows, kTogether / 2>(n, a + p / 2, a_row, b + p * ldb, ldb,
                                          false, sums, step);
  for (; p < k; p += 2)
    stream_pairs<T, kRows, 1>(n, a + p / 2, a_row, b + p * ldb, ldb, p + 1 == k,
                              sums, step);
  for (int i = 0; i < kRows; ++i) straighten(sums + i * step, n);
}

template <class T>
void stream_typed(int rows, int64_t n, int64_t k, const int32_t* a,
                  int64_t a_row, const ByteMatrix& b, int32_t* sums) {
  const int64_t step = (n + kStreamUnit - 1) / kStreamUnit * kStreamUnit;
  for (; rows >= 2; rows -= 2, a += 2 * a_row, sums += 2 * step)
    stream_rows<T, 2>(n, k, a, a_row, b, sums);
  if (rows) stream_rows<T, 1>(n, k, a, a_row, b, sums);
}

template <class T, int kCols>
HWY_INLINE void dot_columns(int64_t k, const int16_t* HWY_RESTRICT a,
                            const T* HWY_RESTRICT b, int64_t ldb,
                            int32_t* sums) {
  const D32 d;
  const D16 d16;
  const hn::Rebind<T, D16> d8;
  V32 sum[kCols];
  HWY_UNROLL(4)
  for (int j = 0; j < kCols; ++j) sum[j] = hn::Zero(d);
  int64_t p = 0;
  for (; p + kWidth <= k; p += kWidth) {
    const V32 x = hn::BitCast(d, hn::LoadU(d16, a + p));
    HWY_UNROLL(4)
    for (int j = 0; j < kCols; ++j) {
      const auto y = hn::PromoteTo(d16, hn::LoadU(d8, b + j * ldb + p));
      sum[j] = add_products(x, hn::BitCast(d, y), sum[j]);
    }
  }
  for (int j = 0; j < kCols; ++j) {
    uint32_t total = uint32_t(hn::GetLane(hn::SumOfLanes(d, sum[j])));
    for (int64_t q = p; q < k; ++q) total += uint32_t(a[q] * b[j * ldb + q]);
    sums[j] = int32_t(total);
  }
}

template <class T>
void dot_typed(int64_t n, int64_t k, const int16_t* a, const ByteMatrix& matrix,
               int32_t* sums) {
  const T* b = reinterpret_cast<const T*>(matrix.data);
  const int64_t ldb = matrix.col_stride;
  int64_t j = 0;
  for (; j + 4 <= n; j += 4)
    dot_columns<T, 4>(k, a, b + j * ldb, ldb, sums + j);
  for (; j < n; ++j) dot_columns<T, 1>(k, a, b + j * ldb, ldb, sums + j);
}

#endif  // HWY_TARGET == HWY_SCALAR

void stream(int rows, int64_t n, int64_t k, const int32_t* a, int64_t a_row,
            const ByteMatrix& b, int32_t* sums) {
  (b.is_signed ? &stream_typed<int8_t>
               : &stream_typed<uint8_t>)(rows, n, k, a, a_row, b, sums);
}

void dot(int64_t n, int64_t k, const int16_t* a, const ByteMatrix& b,
         int32_t* sums) {
  (b.is_signed ? &dot_typed<int8_t> : &dot_typed<uint8_t>)(n, k, a, b, sums);
}

Int8Kernels int8_table() {
  return {kMaxRows,   kWidth,  &even_tile, &offset_tile, &widen, &pair,
          &pair_even, &gather, &pack,      &stream,      &dot,   &finish_rows};
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(int8_table);

const Int8Kernels& int8_kernels() {
  static const Int8Kernels table = HWY_DYNAMIC_DISPATCH(int8_table)();
  return table;
}

}  // namespace hotaru
#endif
