#include "hotaru/backend/cpu/matmul/quads/quad_kernels.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hotaru/backend/cpu/matmul/amx/quad_tiles.h"
#include "hotaru/backend/cpu/matmul/int8/gemm_int8_kernel.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/quads/quad_kernels.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/matmul/tile_rows-inl.h"
#include "hotaru/backend/cpu/simd/quads-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace {
#if HWY_TARGET == HWY_AVX3

namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<int32_t>;
using V32 = hn::Vec<D32>;
using D8 = hn::Repartition<uint8_t, D32>;
constexpr int kLanes = int(hn::MaxLanes(D32()));
constexpr int kWidth = 2 * kLanes;
constexpr int kBytes = 4 * kLanes;
constexpr int kMaxRows = 13;
// Bytes of B ahead of which dot() fetches, as weight_only-inl.h does.
constexpr int64_t kAhead = 16 << 10;

HWY_INLINE V32 ones() {
  return hn::Set(D32(), 0x01010101);
}

HWY_INLINE V32 corrected(V32 sum, V32 row_sum, V32 row_zero, V32 zeros,
                         V32 heads) {
  return hn::Sub(hn::Sub(sum, hn::Mul(zeros, row_sum)),
                 hn::Mul(heads, row_zero));
}

/// Rows of a panel, and what corrects its columns' sums.
struct EvenQuads {
  static constexpr bool kSignedRows = false;
  const int32_t* HWY_RESTRICT b;
  const int32_t* zeros;
  const int32_t* heads;

  HWY_INLINE const int32_t* row() const { return b; }
  HWY_INLINE void next() { b += kWidth; }
};

struct EvenPlanes : EvenQuads {
  static constexpr bool kSignedRows = true;
};

struct OffsetPlanes {
  static constexpr bool kSignedRows = true;
  const int32_t* HWY_RESTRICT b;
  const int32_t* zeros;
  const int32_t* heads;
  const int64_t* HWY_RESTRICT offsets;

  HWY_INLINE const int32_t* row() const { return b + *offsets; }
  HWY_INLINE void next() { ++offsets; }
};

template <int kRows, int kVectors, class B>
void tile(int cols, int64_t quads, const int32_t* HWY_RESTRICT a, int64_t a_row,
          const QuadRow* rows_of_a, B b, const Int8Output& out) {
  const D32 d;
  V32 sum[kRows][kVectors];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(2)
  for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  TileRows<int32_t> factor(a, a_row);
  for (int64_t p = 0; p < quads; ++p) {
    V32 bs[kVectors];
    const int32_t* HWY_RESTRICT row = b.row();
    HWY_UNROLL(2)
    for (int j = 0; j < kVectors; ++j) bs[j] = hn::LoadU(d, row + j * kLanes);
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      const V32 ai = hn::Set(d, *factor.at(i));
      HWY_UNROLL(2)
      for (int j = 0; j < kVectors; ++j)
        sum[i][j] = B::kSignedRows ? add_quads(bs[j], ai, sum[i][j])
                                   : add_quads(ai, bs[j], sum[i][j]);
    }
    b.next();
    factor.next(1);
  }
  V32 zeros[kVectors], heads[kVectors];
  HWY_UNROLL(2)
  for (int j = 0; j < kVectors; ++j) {
    zeros[j] = hn::Load(d, b.zeros + j * kLanes);
    heads[j] = hn::Load(d, b.heads + j * kLanes);
  }
  constexpr int kCols = kVectors * kLanes;
  HWY_ALIGN int32_t rows[kRows * kCols];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) {
    const V32 row_sum = hn::Set(d, rows_of_a[i].sum);
    const V32 row_zero = hn::Set(d, rows_of_a[i].zero);
    HWY_UNROLL(2)
    for (int j = 0; j < kVectors; ++j)
      hn::Store(corrected(sum[i][j], row_sum, row_zero, zeros[j], heads[j]), d,
                rows + i * kCols + j * kLanes);
  }
  int8_kernels().finish_rows(rows, kRows, kCols, std::min(cols, kCols), out);
}

template <class B>
using TileFn = void (*)(int, int64_t, const int32_t*, int64_t, const QuadRow*,
                        B, const Int8Output&);

template <int kVectors, class B, size_t... kRow>
constexpr std::array<TileFn<B>, sizeof...(kRow)> tiles(
    std::index_sequence<kRow...>) {
  return {&tile<int(kRow) + 1, kVectors, B>...};
}

template <class B>
HWY_INLINE void any_tile(int rows, int cols, int64_t quads, const int32_t* a,
                         int64_t a_row, const QuadRow* rows_of_a, B b,
                         const Int8Output& out) {
  using Rows = std::make_index_sequence<kMaxRows>;
  static constexpr auto kOne = tiles<1, B>(Rows());
  static constexpr auto kTwo = tiles<2, B>(Rows());
  const size_t row = size_t(rows - 1);
  (cols > kLanes ? kTwo : kOne)[row](cols, quads, a, a_row, rows_of_a, b, out);
}

void panel_tile(int rows, int cols, int64_t quads, const int32_t* a,
                int64_t a_row, const QuadRow* rows_of_a, const int32_t* panel,
                const Int8Output& out) {
  any_tile(rows, cols, quads, a, a_row, rows_of_a,
           EvenQuads{panel + kQuadHeader * kWidth, panel, panel + kWidth}, out);
}

void conv_tile(int rows, int cols, int64_t quads, const int32_t* a,
               const QuadRow* rows_of_a, const int32_t* b,
               const int64_t* offsets, int32_t zero, const int32_t* column_sums,
               const Int8Output& out) {
  HWY_ALIGN int32_t zeros[kWidth];
  std::fill_n(zeros, kWidth, zero);
  if (offsets)
    any_tile(rows, cols, quads, a, quads, rows_of_a,
             OffsetPlanes{b, zeros, column_sums, offsets}, out);
  else
    any_tile(rows, cols, quads, a, quads, rows_of_a,
             EvenPlanes{{b, zeros, column_sums}}, out);
}

void interleave(int32_t* HWY_RESTRICT to, int64_t n,
                const uint8_t* const (&rows)[4], int flip) {
  const hn::CappedTag<uint8_t, kWidth> d;
  const auto flips = hn::Set(d, uint8_t(flip));
  const auto words = [&](int64_t i, auto mask, uint8_t* at) HOTARU_SIMD_LAMBDA {
    hn::Vec<decltype(d)> v[4];
    HWY_UNROLL(4)
    for (int r = 0; r < 4; ++r)
      v[r] = rows[r] ? hn::Xor(hn::MaskedLoad(mask, d, rows[r] + i), flips)
                     : hn::Zero(d);
    hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, at);
  };
  int64_t i = 0;
  const auto all = hn::FirstN(d, kWidth);
  for (; i + kWidth <= n; i += kWidth)
    words(i, all, reinterpret_cast<uint8_t*>(to + i));
  if (i == n) return;
  HWY_ALIGN int32_t rest[kWidth];
  words(i, hn::FirstN(d, size_t(n - i)), reinterpret_cast<uint8_t*>(rest));
  std::copy_n(rest, n - i, to + i);
}

/// Gives each lane the four bytes from kStep * lane on.
template <int kStep>
HWY_INLINE V32 windows(const uint8_t* at, hn::Indices512<int32_t> blocks,
                       hn::Vec<D8> bytes) {
  const D32 d;
  const V32 v =
      hn::TableLookupLanes(hn::BitCast(d, hn::LoadU(D8(), at)), blocks);
  return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(D8(), v), bytes));
}

template <int kStep>
void lines_by(int32_t* HWY_RESTRICT sums, int64_t n,
              const uint8_t* const* lines, int count, int words,
              const int32_t* weights, int32_t first) {
  const D32 d;
  // Each block of 16 bytes begins with those of its first lane.
  HWY_ALIGN int32_t starts[kLanes];
  HWY_ALIGN uint8_t places[kBytes];
  for (int i = 0; i < kLanes; ++i) {
    starts[i] = i / 4 * kStep + i % 4;
    for (int b = 0; b < 4; ++b) places[4 * i + b] = uint8_t(i % 4 * kStep + b);
  }
  const auto blocks = hn::SetTableIndices(d, starts);
  const auto bytes = hn::Load(D8(), places);
  for (int64_t i = 0; i < n; i += kLanes) {
    V32 sum = hn::Set(d, first);
    const int32_t* w = weights;
    for (int l = 0; l < count; ++l)
      for (int q = 0; q < words; ++q)
        sum = add_quads(
            windows<kStep>(lines[l] + i * kStep + 4 * q, blocks, bytes),
            hn::Set(d, *w++), sum);
    hn::StoreU(sum, d, sums + i);
  }
}

void lines(int32_t* sums, int64_t n, const uint8_t* const* lines, int count,
           int words, const int32_t* weights, int step, int32_t first) {
  (step == 1 ? &lines_by<1> : &lines_by<2>)(sums, n, lines, count, words,
                                            weights, first);
}

template <class T>
void each(T* HWY_RESTRICT to, int64_t n, const T* HWY_RESTRICT from,
          int64_t step) {
  if (step == 1)
    std::copy_n(from, n, to);
  else if (step == 2)
    for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
  else
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
}

int32_t copy(uint8_t* HWY_RESTRICT to, int64_t n,
             const uint8_t* HWY_RESTRICT from, int flip) {
  const D8 d;
  const D32 d32;
  const auto flips = hn::Set(d, uint8_t(flip));
  const V32 one = ones();
  V32 sum = hn::Zero(d32);
  for (int64_t i = 0; i < n; i += kBytes) {
    const size_t count = size_t(std::min<int64_t>(kBytes, n - i));
    const auto mask = hn::FirstN(d, count);
    const auto v = hn::IfThenElseZero(
        mask, hn::Xor(hn::MaskedLoad(mask, d, from + i), flips));
    hn::BlendedStore(v, mask, d, to + i);
    sum = add_quads(hn::BitCast(d32, v), one, sum);
  }
  return hn::GetLane(hn::SumOfLanes(d32, sum));
}

/// Rows p to p + 3 of B, side by side.
HWY_INLINE void pack_quad(int32_t* HWY_RESTRICT to, int rows, int cols,
                          const uint8_t* b, int64_t row_stride, int flip) {
  const hn::CappedTag<uint8_t, kWidth> d;
  const auto mask = hn::FirstN(d, size_t(cols));
  const auto flips = hn::Set(d, uint8_t(flip));
  hn::Vec<decltype(d)> v[4];
  HWY_UNROLL(4)
  for (int r = 0; r < 4; ++r)
    v[r] = r < rows
               ? hn::IfThenElseZero(
                     mask, hn::Xor(hn::MaskedLoad(mask, d, b + r * row_stride),
                                   flips))
               : hn::Zero(d);
  hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d,
                        reinterpret_cast<uint8_t*>(to));
}

void pack(int32_t* HWY_RESTRICT quads, int64_t k, int cols, const uint8_t* b,
          int64_t row_stride, int flip) {
  for (int64_t p = 0; p < k; p += 4, quads += kWidth, b += 4 * row_stride) {
    // Each row lies on a page of its own, which no machine foresees.
    if (p + 20 <= k)
      for (int r = 0; r < 4; ++r) __builtin_prefetch(b + (16 + r) * row_stride);
    pack_quad(quads, int(std::min<int64_t>(4, k - p)), cols, b, row_stride,
              flip);
  }
}

void head(int32_t* panel, int64_t quads, int64_t k, int cols,
          const int32_t* zero) {
  const D32 d;
  const V32 one = ones();
  for (int j = 0; j < kWidth; j += kLanes) {
    const int32_t* b = panel + kQuadHeader * kWidth + j;
    V32 sum = hn::Zero(d);
    for (int64_t p = 0; p < quads; ++p, b += kWidth)
      sum = add_quads(one, hn::Load(d, b), sum);
    HWY_ALIGN int32_t zeros[kLanes] = {};
    if (j < cols) std::copy_n(zero + j, std::min(kLanes, cols - j), zeros);
    const V32 z = hn::Load(d, zeros);
    hn::Store(z, d, panel + j);
    hn::Store(hn::Sub(sum, hn::Mul(z, hn::Set(d, int32_t(k)))), d,
              panel + kWidth + j);
  }
}

/// kRows rows of A times one column of B.
template <int kRows>
HWY_INLINE void dot_column(int64_t k, const uint8_t* HWY_RESTRICT a,
                           int64_t a_row, const uint8_t* HWY_RESTRICT b,
                           int flip, int32_t* sums, int64_t sums_row,
                           int32_t* column_sum) {
  const D8 d;
  const D32 d32;
  constexpr int kChains = kRows == 1 ? 4 : 2;
  const auto flips = hn::Set(d, uint8_t(flip));
  const V32 one = ones();
  V32 sum[kRows][kChains], own = hn::Zero(d32);
  HWY_UNROLL(4)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(4)
  for (int c = 0; c < kChains; ++c) sum[i][c] = hn::Zero(d32);
  const auto add = [&](hn::Vec<D8> v, int64_t p, int c) HOTARU_SIMD_LAMBDA {
    const V32 bs = hn::BitCast(d32, v);
    own = add_quads(one, bs, own);
    HWY_UNROLL(4)
    for (int i = 0; i < kRows; ++i)
      sum[i][c] = add_quads(hn::BitCast(d32, hn::LoadU(d, a + i * a_row + p)),
                            bs, sum[i][c]);
  };
  int64_t p = 0;
  for (; p + kChains * kBytes <= k; p += kChains * kBytes) {
    HWY_UNROLL(4)
    for (int c = 0; c < kChains; ++c) {
      const int64_t at = p + c * kBytes;
      __builtin_prefetch(b + at + kAhead);
      add(hn::Xor(hn::LoadU(d, b + at), flips), at, c);
    }
  }
  for (; p < k; p += kBytes) {
    const auto mask = hn::FirstN(d, size_t(std::min<int64_t>(kBytes, k - p)));
    add(hn::IfThenElseZero(mask,
                           hn::Xor(hn::MaskedLoad(mask, d, b + p), flips)),
        p, 0);
  }
  HWY_UNROLL(4)
  for (int i = 0; i < kRows; ++i) {
    V32 all = sum[i][0];
    HWY_UNROLL(4)
    for (int c = 1; c < kChains; ++c) all = hn::Add(all, sum[i][c]);
    sums[i * sums_row] = hn::GetLane(hn::SumOfLanes(d32, all));
  }
  *column_sum = hn::GetLane(hn::SumOfLanes(d32, own));
}

void dot(int rows, int64_t n, int64_t k, const uint8_t* a, int64_t a_row,
         const uint8_t* b, int64_t col_stride, int flip, int32_t* sums,
         int64_t sums_row, int32_t* column_sums) {
  for (int64_t j = 0; j < n; ++j, b += col_stride) {
    int i = 0;
    const auto some = [&]<int kRows>() HOTARU_SIMD_LAMBDA {
      for (; i + kRows <= rows; i += kRows)
        dot_column<kRows>(k, a + i * a_row, a_row, b, flip,
                          sums + i * sums_row + j, sums_row, column_sums + j);
    };
    some.template operator()<4>();
    some.template operator()<2>();
    some.template operator()<1>();
  }
}

void correct(int32_t* sums, int64_t n, const QuadRow& row, const int32_t* zeros,
             const int32_t* heads) {
  for (int64_t j = 0; j < n; ++j)
    sums[j] = corrected_sum(sums[j], row, zeros[j], heads[j]);
}

QuadKernels quad_table() {
  return {kMaxRows,    kWidth,         &panel_tile,    &conv_tile, &lines,
          &interleave, &each<uint8_t>, &each<int32_t>, &copy,      &pack,
          &head,       &dot,           &correct};
}

#else

QuadKernels quad_table() {
  return {};
}

#endif
}  // namespace
}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru {

HWY_EXPORT(quad_table);

const QuadKernels* quad_kernels() {
  static const QuadKernels table = [] {
    QuadKernels kernels = HWY_DYNAMIC_DISPATCH(quad_table)();
    const auto tile = amx::quad_tile();
    if (tile && kernels.max_cols == amx::kMaxSide) {
      kernels.tile = tile;
      kernels.max_rows = amx::kMaxSide;
      kernels.by_tiles = true;
    }
    return kernels;
  }();
  static const bool usable = table.tile && simd_has_int8_products();
  return usable ? &table : nullptr;
}

}  // namespace hotaru
#endif
