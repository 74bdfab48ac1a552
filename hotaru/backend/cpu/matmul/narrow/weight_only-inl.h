// Common parts of products of few rows of floats with narrow weights, whatever
// the weights. For inclusion after simd.h in files that use its pattern.

// clang-format off
#if defined(HOTARU_WEIGHT_ONLY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HOTARU_WEIGHT_ONLY_INL_H
#undef HOTARU_WEIGHT_ONLY_INL_H
#else
#define HOTARU_WEIGHT_ONLY_INL_H
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/backend/cpu/matmul/narrow/weight_only_rows.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using hotaru::HWY_NAMESPACE::add_product;

using D = hn::ScalableTag<float>;
using Words = hn::Rebind<uint32_t, D>;
using V = hn::Vec<D>;
using W = hn::Vec<Words>;
using Indices =
    decltype(hn::SetTableIndices(D(), static_cast<int32_t*>(nullptr)));
constexpr int64_t kLanes = int64_t(hn::MaxLanes(D()));
static_assert(kLanes == 4 || kLanes == 8 || kLanes == 16);

// How far ahead loops fetch, in bytes. Near ones, and what the processor
// fetches by itself, keep too few lines on their way: 1 KiB reaches 0.75 of the
// speed. Intel's caches lose a twentieth of 16 KiB.
const int64_t kAhead = simd_is_intel() ? 8192 : 16384;

/// Calls f.operator()<i>() for i in [0, n).
template <int n, class F>
HWY_ATTR HWY_INLINE void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) HOTARU_SIMD_LAMBDA {
    (f.template operator()<i>(), ...);
  }
  (std::make_integer_sequence<int, n>());
}

HWY_ATTR HWY_INLINE void fetch(const void* at) {
  __builtin_prefetch(static_cast<const char*>(at) + kAhead);
}

HWY_ATTR HWY_INLINE float lane_sum(V v) {
  return hn::GetLane(hn::SumOfLanes(D(), v));
}

/// Sums of kRows rows of x with kWeights rows of the weights.
template <int kRows, int kWeights>
using Sums = V[kRows][kWeights];

template <int kRows, int kWeights>
HWY_ATTR HWY_INLINE void clear(Sums<kRows, kWeights>& sums) {
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kWeights>([&]<int j>()
                           HOTARU_SIMD_LAMBDA { sums[r][j] = hn::Zero(D()); });
  });
}

template <int kRows, int kWeights>
HWY_ATTR HWY_INLINE void add(Sums<kRows, kWeights>& sums,
                             const Sums<kRows, kWeights>& more) {
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
      sums[r][j] = hn::Add(sums[r][j], more[r][j]);
    });
  });
}

template <int kRows, int kWeights>
HWY_ATTR HWY_INLINE void store_sums(const Sums<kRows, kWeights>& sums,
                                    const FewSums& out, int64_t row,
                                    int64_t j) {
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kWeights>([&]<int w>() HOTARU_SIMD_LAMBDA {
      out.data[(row + r) * out.stride + j + w] = lane_sum(sums[r][w]);
    });
  });
}

/// f<kRows>(row) for all rows of x, up to kMost at a time.
template <int kMost, class F>
HWY_ATTR HWY_INLINE void by_rows(int64_t m, const F& f) {
  int64_t row = 0;
  for (; row + kMost <= m; row += kMost) f.template operator()<kMost>(row);
  if constexpr (kMost > 2)
    if (row + 2 <= m) f.template operator()<2>(row), row += 2;
  if (row < m) f.template operator()<1>(row);
}

/// f<kRows, kWeights>(row, j) for all rows of x, up to kMost at a time, and n
/// rows of weights, kMany at a time: what is loaded of x serves them all.
template <int kMost, int kMany, class F>
HWY_ATTR HWY_INLINE void by_blocks(int64_t m, int64_t n, const F& f) {
  int64_t j = 0;
  for (; j + kMany <= n; j += kMany)
    by_rows<kMost>(m, [&]<int kRows>(int64_t row) HOTARU_SIMD_LAMBDA {
      f.template operator()<kRows, kMany>(row, j);
    });
  for (; j < n; ++j)
    by_rows<kMost>(m, [&]<int kRows>(int64_t row) HOTARU_SIMD_LAMBDA {
      f.template operator()<kRows, 1>(row, j);
    });
}

/// Four bits q of each word, from bit 4 * s up, as q * 16^s; the uppermost as
/// q. That way they need no shift, which has half the units of an `and`.
template <int s>
HWY_ATTR HWY_INLINE V nibbles(W words) {
  const hn::RebindToSigned<Words> whole;
  const W bits = s == 7 ? hn::ShiftRight<28>(words)
                        : hn::And(words, hn::Set(Words(), 15u << (4 * s % 32)));
  return hn::ConvertTo(D(), hn::BitCast(whole, bits));
}

/// Factor that undoes that.
constexpr float nibble_scale(int64_t s) {
  return s == 7 ? 1.0f : 1.0f / float(int64_t{1} << 4 * s);
}

/// Scales and zeros of kLanes rows of int4, each row's pair side by side.
HWY_ATTR HWY_INLINE void load_pairs(const float* pairs, V& scale, V& zero) {
  hn::LoadInterleaved2(D(), pairs, scale, zero);
}

HWY_ATTR HWY_INLINE void load_pairs(const BFloat16* pairs, V& scale, V& zero) {
  const hn::Repartition<uint8_t, Words> bytes;
  const W both = hn::BitCast(
      Words(), hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(pairs)));
  scale = hn::BitCast(D(), hn::ShiftLeft<16>(both));
  zero = hn::BitCast(D(), hn::And(both, hn::Set(Words(), 0xffff0000u)));
}

/// Fetches scales that are used soon, when group `group` of k columns is: those
/// of the next one, which may lie far away as nothing foresees, or of more
/// where they lie side by side.
template <class S>
HWY_ATTR HWY_INLINE void fetch_pairs(const Int4Block<S>& block, int64_t group,
                                     int64_t k) {
  const int64_t next = group + (block.apart == 2 * kInt4Rows ? 4 : 1);
  if (next * block.group >= k) return;
  const auto* at =
      reinterpret_cast<const char*>(block.scales + next * block.apart);
  for (size_t i = 0; i < 2 * kInt4Rows * sizeof(S); i += 64)
    __builtin_prefetch(at + i);
}

}  // namespace
}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif
