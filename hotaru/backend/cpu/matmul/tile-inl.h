// Tiles of matrix products and dot products, for whatever a lane holds: P adds
// products of lanes. For inclusion after simd.h in files that use its pattern.

// clang-format off
#if defined(HOTARU_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_TILE_INL_H
#undef HOTARU_TILE_INL_H
#else
#define HOTARU_TILE_INL_H
#endif
// clang-format on

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "hotaru/backend/cpu/matmul/gemm_kernel.h"
#include "hotaru/backend/cpu/matmul/recent_reads.h"
#include "hotaru/backend/cpu/matmul/tile_rows-inl.h"
#include "hotaru/backend/cpu/simd/four_sums-inl.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A lane is a floating number.
struct WholeProducts {
  template <class V>
  static HWY_INLINE void add(V& sum, const V& a, const V& b) {
    add_product(sum, a, b);
  }
};

/// A lane is an unsigned integer, whose sums wrap.
struct IntegerProducts {
  template <class V>
  static HWY_INLINE void add(V& sum, const V& a, const V& b) {
    sum = hn::Add(sum, hn::Mul(a, b));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    // Compilers add integers in the order they like, which leaves no registers.
    asm("" : "+v"(sum.raw));
#endif
  }
};

/// a * b + c, rounded once where lanes are floating numbers.
template <class V>
HWY_INLINE V multiply_add(V a, V b, V c) {
  if constexpr (std::is_integral_v<hn::TFromV<V>>)
    return hn::Add(hn::Mul(a, b), c);
  else
    return hn::MulAdd(a, b, c);
}

// Rows x 2 vectors of accumulators, two vectors of B and a broadcast of A
// must fit the registers: 32 with AVX-512 and on Arm, else 16. Without vectors
// code for more rows is not worth its size.
#if HWY_TARGET == HWY_SCALAR
constexpr int kMaxRows = 2;
#elif HWY_TARGET == HWY_AVX3
constexpr int kMaxRows = 14;
#elif HWY_ARCH_ARM
constexpr int kMaxRows = 8;
#else
constexpr int kMaxRows = 6;
#endif

// Bytes ahead of which few rows fetch B. May lie beyond the end of memory.
constexpr int64_t kFewAhead = 2048;
// Depth of products from which fetching memory ahead pays.
constexpr int64_t kFetchDepth = 128;
// Steps of the depth between two additions to pointers and two fetches: where
// a neighbour shares the core, its decoder is what products wait for.
constexpr int64_t kSteps = kMaxRows > 8 ? 2 : 4;
static_assert(kMaxRows * kSteps <= kFetchDepth);

/// Row p of B at b + p * step.
template <class T>
struct EvenRows {
  const T* HWY_RESTRICT b;
  int64_t step;

  HWY_INLINE const T* row() const { return b; }
  HWY_INLINE void next() { b += step; }
  HWY_INLINE void set(const T* row) { b = row; }
  HWY_INLINE bool is_panel(int64_t width) const { return step == width; }
};

/// Row p of B at b + offsets[p].
template <class T>
struct OffsetRows {
  const T* HWY_RESTRICT b;
  const int64_t* HWY_RESTRICT offsets;

  HWY_INLINE const T* row() const { return b + *offsets; }
  HWY_INLINE void next() { ++offsets; }
  HWY_INLINE void set(const T*) {}
  HWY_INLINE bool is_panel(int64_t) const { return false; }
};

/// kRows x (kVectors * lanes) elements of C; with kTail only `cols` of them.
/// kUnroll sets of accumulators hide the latency of few rows.
template <class P, class T, int kRows, int kVectors, int kUnroll, bool kTail,
          class B>
HWY_INLINE void multiply_tile(int cols, int64_t k, const TileA<T>& a, B b,
                              const TileOutput<T>& out) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  using V = hn::Vec<D>;
  constexpr int kLanes = int(hn::MaxLanes(D()));
  const auto mask = hn::FirstN(d, size_t(cols - (kVectors - 1) * kLanes));

  V sum[kUnroll][kRows][kVectors];
  HWY_UNROLL(4)
  for (int u = 0; u < kUnroll; ++u) HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(8)
  for (int j = 0; j < kVectors; ++j) sum[u][i][j] = hn::Zero(d);

  TileRows<T> factor(a.data, a.row);
  const auto step = [&](int u) HOTARU_SIMD_LAMBDA {
    V bs[kVectors];
    const T* HWY_RESTRICT row = b.row();
    if constexpr (kUnroll > 1) {
      HWY_UNROLL(8)
      for (int j = 0; j < kVectors; ++j)
        hwy::Prefetch(row + j * kLanes + kFewAhead / int64_t{sizeof(T)});
    }
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j)
      bs[j] = kTail && j == kVectors - 1 ? load_first(mask, d, row + j * kLanes)
                                         : hn::LoadU(d, row + j * kLanes);
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      const V ai = hn::Set(d, *factor.at(i));
      HWY_UNROLL(8)
      for (int j = 0; j < kVectors; ++j) P::add(sum[u][i][j], ai, bs[j]);
    }
    b.next();
    factor.next(a.depth);
  };

  int64_t p = 0;
  // C, and what later calls need, may lie far away; they are fetched little by
  // little, lest A and B wait for them. Small tiles are not worth the code.
  if constexpr (!kTail && kRows > kMaxRows / 2) {
    constexpr int64_t kWidth = kVectors * kLanes;
    if (k >= kFetchDepth && b.is_panel(kWidth) && a.row == 1 &&
        a.depth == kRows) {
      // Addresses are all constants where matrices are packed.
      const T* HWY_RESTRICT from = b.row();
      for (const bool first : {true, false}) {
        const T* fetched = first ? out.c : a.ahead ? a.ahead : from;
        const int64_t next = first ? out.ldc : kSteps * a.ahead_step;
        for (const int64_t end = first ? kRows * kSteps : k; p + kSteps <= end;
             p += kSteps) {
          hwy::Prefetch(fetched);
          hwy::Prefetch(fetched + 64 / sizeof(T));
          fetched += next;
          HWY_UNROLL(4)
          for (int on = 0; on < kSteps; ++on) {
            V bs[kVectors];
            HWY_UNROLL(8)
            for (int j = 0; j < kVectors; ++j)
              bs[j] = hn::LoadU(d, from + on * kWidth + j * kLanes);
            HWY_UNROLL(16)
            for (int i = 0; i < kRows; ++i) {
              const V ai = hn::Set(d, factor.lower[on * kRows + i]);
              HWY_UNROLL(8)
              for (int j = 0; j < kVectors; ++j)
                P::add(sum[0][i][j], ai, bs[j]);
            }
          }
          from += kSteps * kWidth;
          factor.next(kSteps * kRows);
        }
      }
      b.set(from);
    } else if (a.ahead || k >= kFetchDepth) {
      const T* fetched = a.ahead ? a.ahead : out.c;
      const int64_t next = a.ahead ? a.ahead_step : out.ldc;
      HWY_UNROLL(1)
      for (const int64_t end = a.ahead ? k : kRows; p < end; ++p) {
        hwy::Prefetch(fetched);
        hwy::Prefetch(fetched + 64 / sizeof(T));
        fetched += next;
        step(0);
      }
    }
  }
  if constexpr (kUnroll > 1) {
    for (; p + kUnroll <= k; p += kUnroll) {
      HWY_UNROLL(4)
      for (int u = 0; u < kUnroll; ++u) step(u);
    }
  }
  for (; p < k; ++p) step(0);

  // Copies, because a store to C might change what out refers to.
  const V alpha = hn::Set(d, out.alpha), beta = hn::Set(d, out.beta);
  const bool add = out.beta != 0;
  const T* added = out.d ? out.d : out.c;
  const T* more = out.r;
  T* row = out.c;
  const int64_t ldc = out.ldc, ldd = out.d ? out.ldd : out.ldc, ldr = out.ldr;
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  const V least = hn::Set(d, out.relu ? T(0) : kLowest);
  const auto load = [&](const T* at, int j) HOTARU_SIMD_LAMBDA {
    return kTail && j == kVectors - 1 ? load_first(mask, d, at + j * kLanes)
                                      : hn::LoadU(d, at + j * kLanes);
  };
  const auto finish_rows = [&](auto plain) HOTARU_SIMD_LAMBDA {
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      V v[kVectors];
      HWY_UNROLL(8)
      for (int j = 0; j < kVectors; ++j) {
        v[j] = sum[0][i][j];
        HWY_UNROLL(4)
        for (int u = 1; u < kUnroll; ++u) v[j] = hn::Add(v[j], sum[u][i][j]);
        v[j] = hn::Mul(v[j], alpha);
      }
      if constexpr (!plain) {
        if (add) {
          HWY_UNROLL(8)
          for (int j = 0; j < kVectors; ++j)
            v[j] = multiply_add(beta, load(added, j), v[j]);
          added += ldd;
        }
        if (more) {
          HWY_UNROLL(8)
          for (int j = 0; j < kVectors; ++j)
            v[j] = hn::Add(v[j], load(more, j));
          more += ldr;
        }
        // NaN stays NaN.
        HWY_UNROLL(8)
        for (int j = 0; j < kVectors; ++j)
          v[j] = hn::IfThenElse(hn::Lt(v[j], least), least, v[j]);
      }
      HWY_UNROLL(8)
      for (int j = 0; j < kVectors; ++j) {
        if (kTail && j == kVectors - 1)
          hn::BlendedStore(v[j], mask, d, row + j * kLanes);
        else
          hn::StoreU(v[j], d, row + j * kLanes);
      }
      row += ldc;
    }
  };
  if (add || more || out.relu)
    finish_rows(std::false_type());
  else
    finish_rows(std::true_type());
}

template <class P, class T, int kRows, int kVectors, int kUnroll, bool kTail>
void tile(int cols, int64_t k, const TileA<T>& a, const T* b, int64_t ldb,
          const TileOutput<T>& out) {
  multiply_tile<P, T, kRows, kVectors, kUnroll, kTail>(
      cols, k, a, EvenRows<T>{b, ldb}, out);
}

template <class T>
using TileFn = void (*)(int, int64_t, const TileA<T>&, const T*, int64_t,
                        const TileOutput<T>&);

/// Sets of accumulators where a whole product has few rows.
constexpr int unroll_for(int rows) {
  return rows == 1 ? 4 : 2;
}

template <class P, class T, int kVectors, bool kTail, bool kFew, size_t... kRow>
constexpr std::array<TileFn<T>, sizeof...(kRow)> tiles(
    std::index_sequence<kRow...>) {
  return {&tile < P,  T, kRow + 1, kVectors, kFew ? unroll_for(kRow + 1) : 1,
          kTail > ...};
}

template <class P, class T, int kMost, bool kFew>
void any_tile(int rows, int cols, int64_t k, const TileA<T>& a, const T* b,
              int64_t ldb, const TileOutput<T>& out) {
  using Rows = std::make_index_sequence<kMost>;
  static constexpr auto kFull = tiles<P, T, 2, false, kFew>(Rows());
  static constexpr auto kTwo = tiles<P, T, 2, true, kFew>(Rows());
  static constexpr auto kOne = tiles<P, T, 1, true, kFew>(Rows());
  constexpr int kLanes = int(hn::MaxLanes(hn::ScalableTag<T>()));
  const auto& table = cols == 2 * kLanes ? kFull : cols > kLanes ? kTwo : kOne;
  table[rows - 1](cols, k, a, b, ldb, out);
}

template <class P, class T, int kRows>
void offset_rows(int64_t k, const TileA<T>& a, OffsetRows<T> b,
                 const TileOutput<T>& out) {
  constexpr int kLanes = int(hn::MaxLanes(hn::ScalableTag<T>()));
  multiply_tile<P, T, kRows, 2, 1, false>(2 * kLanes, k, a, b, out);
}

template <class P, class T>
void offset_tile(int rows, int64_t k, const TileA<T>& a, const T* b,
                 const int64_t* offsets, const TileOutput<T>& out) {
  using Fn =
      void (*)(int64_t, const TileA<T>&, OffsetRows<T>, const TileOutput<T>&);
  static constexpr auto kTable =
      []<size_t... kRow>(std::index_sequence<kRow...>) {
    return std::array<Fn, kMaxRows>{&offset_rows<P, T, kRow + 1>...};
  }
  (std::make_index_sequence<kMaxRows>());
  kTable[size_t(rows - 1)](k, a, {b, offsets}, out);
}

constexpr int kWideVectors = 8;

template <class P, class T>
void wide_tile(int rows, int64_t k, const TileA<T>& a, const T* b, int64_t ldb,
               const TileOutput<T>& out) {
  constexpr int kLanes = int(hn::MaxLanes(hn::ScalableTag<T>()));
  constexpr int kCols = kWideVectors * kLanes;
  if (rows == 1)
    return tile<P, T, 1, kWideVectors, 1, false>(kCols, k, a, b, ldb, out);
  // Two halves: 3 x 8 accumulators would not fit sixteen registers.
  constexpr int kHalf = kWideVectors / 2;
  const auto half = rows == 2 ? &tile<P, T, 2, kHalf, 1, false>
                              : &tile<P, T, 3, kHalf, 1, false>;
  half(kCols / 2, k, a, b, ldb, out);
  TileOutput<T> right = out;
  right.c += kCols / 2;
  half(kCols / 2, k, a, b + kCols / 2, ldb, right);
}

// Rows of A up to which dot products pay, measured at 128 to 3072 a side: fewer
// where registers do not hold all sums.
#if HWY_TARGET == HWY_AVX3
constexpr int kDotRows = 20;
#else
constexpr int kDotRows = 10;
#endif

/// kRows x kCols dot products of length k. kAhead: fetches B ahead.
template <class P, class T, int kRows, int kCols, bool kAhead = false>
void dot_tile(int64_t k, const T* HWY_RESTRICT a, int64_t lda,
              const T* HWY_RESTRICT b, int64_t ldb, const TileOutput<T>& out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = int64_t(hn::Lanes(d));
  V sum[kRows][kCols];
  HWY_UNROLL(4)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(8)
  for (int j = 0; j < kCols; ++j) sum[i][j] = hn::Zero(d);
  const auto step = [&](auto load) HOTARU_SIMD_LAMBDA {
    V bs[kCols];
    HWY_UNROLL(8)
    for (int j = 0; j < kCols; ++j) bs[j] = load(b + j * ldb);
    if constexpr (kAhead && kRows == 1) {
      // One stream may run a page ahead, two are to stay in the near cache.
      constexpr int64_t kBytes = kCols == 1 ? 4096 : 1024;
      HWY_UNROLL(2)
      for (int j = 0; j < kCols; ++j)
        hwy::Prefetch(b + j * ldb + kBytes / int64_t{sizeof(T)});
    } else if constexpr (kAhead) {
      // The next columns, at the same depth.
      HWY_UNROLL(4)
      for (int j = 0; j < kCols; ++j) hwy::Prefetch(b + (kCols + j) * ldb);
    }
    HWY_UNROLL(4)
    for (int i = 0; i < kRows; ++i) {
      const V ai = load(a + i * lda);
      HWY_UNROLL(8)
      for (int j = 0; j < kCols; ++j) P::add(sum[i][j], ai, bs[j]);
    }
    a += lanes;
    b += lanes;
  };
  int64_t p = 0;
  for (; p + lanes <= k; p += lanes)
    step([&](const T* at) HOTARU_SIMD_LAMBDA { return hn::LoadU(d, at); });
  if (p < k) {
    const auto mask = hn::FirstN(d, size_t(k - p));
    step([&](const T* at)
             HOTARU_SIMD_LAMBDA { return load_first(mask, d, at); });
  }
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4 && kCols % 4 == 0) {
    if (out.beta == 0) {
      const hn::CappedTag<T, 4> four;
      HWY_UNROLL(4)
      for (int i = 0; i < kRows; ++i) HWY_UNROLL(2)
      for (int j = 0; j < kCols; j += 4) {
        const auto v = four_sums(d, sum[i][j], sum[i][j + 1], sum[i][j + 2],
                                 sum[i][j + 3]);
        hn::StoreU(hn::Mul(hn::Set(four, out.alpha), v), four,
                   out.c + i * out.ldc + j);
      }
      return;
    }
  }
#endif
  // Copy of the sums, as an index known only at run time keeps an array in
  // memory.
  V kept[kRows][kCols];
  HWY_UNROLL(4)
  for (int i = 0; i < kRows; ++i) HWY_UNROLL(8)
  for (int j = 0; j < kCols; ++j) kept[i][j] = sum[i][j];
#pragma GCC unroll 1
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 1
    for (int j = 0; j < kCols; ++j) {
      T& c = out.c[i * out.ldc + j];
      const T v = out.alpha * hn::GetLane(hn::SumOfLanes(d, kept[i][j]));
      c = out.beta == 0 ? v : v + out.beta * c;
    }
  }
}

template <class P, class T, int kRows>
void dot_rows(int64_t n, int64_t k, const T* a, int64_t lda, const T* b,
              int64_t ldb, TileOutput<T> out) {
  constexpr int kCols = kRows == 1 ? 8 : 4;
  int64_t j = 0;
  // More than a core's caches hold comes fastest as one stream: row by row of
  // the transposed B, a page ahead, 18 GB/s where eight rows at once give 14.
  // The sums are the same. In the second-level cache it takes 1.4 times as
  // long, and in the third a row waits for its own sum: 77 GB/s, two 115.
  constexpr size_t kNear = 384 << 10, kFar = 16 << 20;
  const size_t bytes = size_t(n) * size_t(k) * sizeof(T);
  if (kRows == 1 && ldb == k && bytes > kNear &&
      !cpu::read_recently(b, bytes)) {
    if (bytes <= kFar)
      for (; j + 2 <= n; j += 2, out.c += 2)
        dot_tile<P, T, 1, 2, true>(k, a, lda, b + j * ldb, ldb, out);
    for (; j < n; ++j, ++out.c)
      dot_tile<P, T, 1, 1, true>(k, a, lda, b + j * ldb, ldb, out);
  }
  for (; j + kCols <= n; j += kCols, out.c += kCols)
    dot_tile<P, T, kRows, kCols, (kRows > 1)>(k, a, lda, b + j * ldb, ldb, out);
  for (; j < n; ++j, ++out.c)
    dot_tile<P, T, kRows, 1>(k, a, lda, b + j * ldb, ldb, out);
}

/// Rows of A four at a time, over columns of B that stay in a near cache
/// meanwhile: B comes from memory once.
template <class P, class T>
void dot(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b,
         int64_t ldb, const TileOutput<T>& out) {
  constexpr int64_t kNear = 96 << 10;
  const int64_t fit = kNear / (std::max<int64_t>(k, 1) * int64_t(sizeof(T)));
  const int64_t block = m <= 4 ? n : std::max<int64_t>(8, fit & ~int64_t{7});
  for (int64_t j = 0; j < n; j += block) {
    TileOutput<T> at = out;
    at.c += j;
    for (int64_t i = 0; i < m;) {
      const int64_t left = m - i;
      const int rows = left >= 4 ? (left == 5 ? 3 : 4) : int(left);
      const auto fn = rows == 1   ? &dot_rows<P, T, 1>
                      : rows == 2 ? &dot_rows<P, T, 2>
                      : rows == 3 ? &dot_rows<P, T, 3>
                                  : &dot_rows<P, T, 4>;
      fn(std::min(block, n - j), k, a + i * lda, lda, b + j * ldb, ldb, at);
      i += rows;
      at.c += rows * out.ldc;
    }
  }
}

}  // namespace hotaru::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
