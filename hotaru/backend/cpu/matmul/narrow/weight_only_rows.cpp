#include "hotaru/backend/cpu/matmul/narrow/weight_only_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/matmul/narrow/weight_only_rows.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

// Below simd.h, which chooses the target.
#include "hotaru/backend/cpu/matmul/narrow/weight_only-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
#if HWY_TARGET == HWY_SCALAR

WeightOnlyKernels table() {
  return plain_weight_only_kernels();
}

#else
// Elements of GGUF's blocks, and their bytes.
constexpr int64_t kBlock = 32;
constexpr int64_t kBytes8 = 34, kBytes4 = 18;

HWY_ATTR HWY_INLINE V from_int8(const int8_t* w) {
  const D d;
  const hn::Rebind<int32_t, D> whole;
  const hn::Rebind<int8_t, D> bytes;
  return hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(bytes, w)));
}

template <int kRows, int kWeights>
HWY_ATTR HWY_INLINE void int8_rows(const FewRows& x, int64_t row,
                                   const int8_t* w,
                                   Sums<kRows, kWeights>& sums) {
  const D d;
  const float* from = x.x + row * x.stride;
  constexpr int kUnroll = 4;
  constexpr int64_t kStep = kUnroll * kLanes;
  // Even and odd vectors apart: additions to one sum wait for each other.
  Sums<kRows, kWeights> odd;
  clear<kRows, kWeights>(sums);
  clear<kRows, kWeights>(odd);
  int64_t i = 0;
  for (; i + kStep <= x.k; i += kStep) {
    unrolled<kWeights>([&]<int j>()
                           HOTARU_SIMD_LAMBDA { fetch(w + j * x.k + i); });
    unrolled<kUnroll>([&]<int u>() HOTARU_SIMD_LAMBDA {
      const int64_t at = i + u * kLanes;
      V xs[kRows];
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        xs[r] = hn::LoadU(d, from + r * x.stride + at);
      });
      unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
        const V q = from_int8(w + j * x.k + at);
        unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
          add_product(u % 2 ? odd[r][j] : sums[r][j], q, xs[r]);
        });
      });
    });
  }
  add<kRows, kWeights>(sums, odd);
  for (; i < x.k; i += kLanes) {
    HWY_ALIGN float numbers[kLanes] = {}, xs[kLanes] = {};
    const int64_t count = std::min(kLanes, x.k - i);
    unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
      for (int64_t c = 0; c < count; ++c)
        numbers[c] = float(w[j * x.k + i + c]);
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        std::copy_n(from + r * x.stride + i, count, xs);
        add_product(sums[r][j], hn::Load(d, numbers), hn::Load(d, xs));
      });
    });
  }
}

HWY_ATTR void int8(const FewRows& x, int64_t n, const int8_t* w,
                   const FewSums& out) {
  by_blocks<4, 1>(x.m, n,
                  [&]<int kRows, int kWeights>(int64_t row, int64_t j)
                      HOTARU_SIMD_LAMBDA {
                        Sums<kRows, kWeights> sums;
                        int8_rows<kRows, kWeights>(x, row, w + j * x.k, sums);
                        store_sums<kRows, kWeights>(sums, out, row, j);
                      });
}

/// A half-precision number on all lanes.
HWY_ATTR HWY_INLINE V half_at(const uint8_t* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(
      D(),
      hn::BitCast(half, hn::Set(hn::RebindToUnsigned<decltype(half)>(), bits)));
}

template <int kRows, int kWeights>
HWY_ATTR HWY_INLINE void q8_0_rows(const FewRows& x, int64_t row,
                                   const uint8_t* w,
                                   Sums<kRows, kWeights>& sums) {
  const D d;
  const float* from = x.x + row * x.stride;
  const int64_t blocks = x.k / kBlock, bytes = blocks * kBytes8;
  clear<kRows, kWeights>(sums);
  for (int64_t b = 0; b < blocks; ++b) {
    const uint8_t* at = w + b * kBytes8;
    V inner[kRows][kWeights];
    unrolled<int(kBlock / kLanes)>([&]<int u>() HOTARU_SIMD_LAMBDA {
      V xs[kRows];
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        xs[r] = hn::LoadU(d, from + r * x.stride + b * kBlock + u * kLanes);
      });
      unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
        const V q = from_int8(
            reinterpret_cast<const int8_t*>(at + j * bytes + 2 + u * kLanes));
        unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
          if constexpr (u == 0)
            inner[r][j] = hn::Mul(q, xs[r]);
          else
            add_product(inner[r][j], q, xs[r]);
        });
      });
    });
    unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
      fetch(at + j * bytes);
      const V scale = half_at(at + j * bytes);
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        add_product(sums[r][j], scale, inner[r][j]);
      });
    });
  }
}

HWY_ATTR void q8_0(const FewRows& x, int64_t n, const uint8_t* w,
                   const FewSums& out) {
  const int64_t bytes = x.k / kBlock * kBytes8;
  by_blocks<4, 1>(x.m, n,
                  [&]<int kRows, int kWeights>(int64_t row, int64_t j)
                      HOTARU_SIMD_LAMBDA {
                        Sums<kRows, kWeights> sums;
                        q8_0_rows<kRows, kWeights>(x, row, w + j * bytes, sums);
                        store_sums<kRows, kWeights>(sums, out, row, j);
                      });
}

// Q4_0: as many blocks at a time as vectors have words of 16 bytes. Word w of
// block b stands in lane 4 * b + w; bits 4 * s of its half h are of that
// block's element 4 * w + 2 * h + s / 2, or 16 beyond it where s is odd.
// Products of floats would take twice the time that the bytes do, so x is
// rounded to 16 bits, with a scale for each block: as near as 2^-16 of the
// block's largest number.
constexpr int64_t kTogether = kLanes / 4;
constexpr int64_t kOrdered = kTogether * kBlock;  // elements at a time
using Integers = hn::Vec<hn::RebindToSigned<Words> >;

// Parts of x's form for them, in vectors: x for s from 0 to 3, what -8 * x adds
// up to in each lane as integers, and x's scales.
constexpr int64_t kOffsets = 4 * kLanes, kScales = 5 * kLanes;
constexpr int64_t kOrderedSize = 6 * kLanes;

int64_t q4_0_size(int64_t k) {
  return (k + kOrdered - 1) / kOrdered * kOrderedSize;
}

/// Rounds a block and gives its scale. What is not finite has a scale of NaN.
HWY_ATTR float round_block(const float* x, int16_t* to) {
  const D d;
  const hn::Rebind<int16_t, D> narrow;
  V most = hn::Zero(d), apart = hn::Zero(d);
  for (int64_t i = 0; i < kBlock; i += kLanes) {
    const V v = hn::LoadU(d, x + i);
    most = hn::Max(most, hn::Abs(v));
    apart = hn::Add(apart, hn::Sub(v, v));
  }
  const float largest = hn::GetLane(hn::MaxOfLanes(d, most));
  const bool finite = lane_sum(apart) == 0;
  // Numbers so small would have an infinite inverse; they count as zero.
  const bool some = finite && largest > 1e-33f;
  const V by = hn::Set(d, some ? 32767.0f / largest : 0.0f);
  for (int64_t i = 0; i < kBlock; i += kLanes) {
    const V v = some ? hn::Mul(hn::LoadU(d, x + i), by) : hn::Zero(d);
    const auto rounded = hn::NearestInt(v);
    hn::StoreU(hn::DemoteTo(narrow, rounded), narrow, to + i);
  }
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  return some ? largest / 32767.0f : 0.0f;
}

HWY_ATTR void q4_0_order(const float* x, int64_t k, float* to) {
  std::memset(to, 0, size_t(q4_0_size(k)) * sizeof(float));
  for (int64_t block = 0; block < k / kBlock; ++block) {
    HWY_ALIGN int16_t rounded[kBlock];
    const float scale = round_block(x + block * kBlock, rounded);
    float* step = to + block / kTogether * kOrderedSize;
    const int64_t lane = block % kTogether * 4;
    for (int64_t w = 0; w < 4; ++w) {
      int16_t halves[4][2];
      int32_t sum = 0;
      for (int64_t s = 0; s < 4; ++s)
        for (int64_t h = 0; h < 2; ++h) {
          halves[s][h] = rounded[4 * w + 2 * h + s / 2 + s % 2 * 16];
          sum += halves[s][h];
        }
      for (int64_t s = 0; s < 4; ++s)
        std::memcpy(step + s * kLanes + lane + w, halves[s], sizeof(float));
      sum *= -8;
      std::memcpy(step + kOffsets + lane + w, &sum, sizeof sum);
      step[kScales + lane + w] = scale;
    }
  }
}

/// Bits 4 * s of each half word.
template <int s>
HWY_ATTR HWY_INLINE auto half_nibbles(W words) {
  const hn::Repartition<uint16_t, Words> d;
  const hn::RebindToSigned<decltype(d)> whole;
  const auto halves = hn::BitCast(d, words);
  const auto low = hn::Set(d, uint16_t{15});
  if constexpr (s == 0)
    return hn::BitCast(whole, hn::And(halves, low));
  else if constexpr (s == 3)
    return hn::BitCast(whole, hn::ShiftRight<12>(halves));
  else
    return hn::BitCast(whole, hn::And(hn::ShiftRight<4 * s>(halves), low));
}

/// The words of kTogether blocks.
HWY_ATTR HWY_INLINE W words_of_blocks(const uint8_t* at) {
  const Words d;
  const hn::Repartition<uint8_t, Words> bytes;
  W words =
      hn::BitCast(d, hn::LoadDup128(bytes, at + (kTogether - 1) * kBytes4 + 2));
  unrolled<int(kTogether - 1)>([&]<int i>() HOTARU_SIMD_LAMBDA {
    constexpr int b = int(kTogether) - 2 - i;
    const W these = hn::BitCast(d, hn::LoadDup128(bytes, at + b * kBytes4 + 2));
    words = hn::IfThenElse(hn::FirstN(d, (b + 1) * 4), these, words);
  });
  return words;
}

/// Their scales, each on four lanes.
HWY_ATTR HWY_INLINE V scales_of_blocks(const uint8_t* at, Indices fourth) {
  const hn::Rebind<hwy::float16_t, D> half;
  const hn::Repartition<uint64_t, decltype(half)> all;
  uint64_t four = 0;
  unrolled<int(kTogether)>([&]<int b>() HOTARU_SIMD_LAMBDA {
    uint16_t bits;
    std::memcpy(&bits, at + b * kBytes4, sizeof bits);
    four |= uint64_t{bits} << (16 * b);
  });
  const auto halves = hn::BitCast(half, hn::Set(all, four));
  return hn::TableLookupLanes(hn::PromoteTo(D(), halves), fourth);
}

template <int kRows, int kWeights>
HWY_ATTR HWY_INLINE void q4_0_rows(const FewRows& x, int64_t row,
                                   const uint8_t* w,
                                   Sums<kRows, kWeights>& sums) {
  const D d;
  const hn::RebindToSigned<Words> whole;
  const hn::Repartition<int16_t, Words> half;
  const float* from = x.x + row * x.stride;
  HWY_ALIGN int32_t lanes[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) lanes[i] = int32_t(i / 4);
  const auto fourth = hn::SetTableIndices(d, lanes);
  clear<kRows, kWeights>(sums);
  constexpr int64_t kBytes = kTogether * kBytes4;
  const int64_t blocks = x.k / kBlock, steps = blocks / kTogether;
  const int64_t row_bytes = blocks * kBytes4;
  const auto some = [&](const uint8_t* at, int64_t apart,
                        const float* xs) HOTARU_SIMD_LAMBDA {
    W words[kWeights];
    // The second one is for targets that add the second halves apart.
    Integers inner[kRows][kWeights], more[kRows][kWeights];
    unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
      words[j] = words_of_blocks(at + j * apart);
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        inner[r][j] =
            hn::BitCast(whole, hn::LoadU(d, xs + r * x.stride + kOffsets));
        more[r][j] = hn::Zero(whole);
      });
    });
    unrolled<4>([&]<int s>() HOTARU_SIMD_LAMBDA {
      unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
        const auto q = half_nibbles<s>(words[j]);
        unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
          const auto v =
              hn::BitCast(half, hn::LoadU(d, xs + r * x.stride + s * kLanes));
          inner[r][j] = hn::ReorderWidenMulAccumulate(whole, q, v, inner[r][j],
                                                      more[r][j]);
        });
      });
    });
    unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
      const V scale = scales_of_blocks(at + j * apart, fourth);
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        const V both =
            hn::Mul(scale, hn::LoadU(d, xs + r * x.stride + kScales));
        const V sum = hn::ConvertTo(d, hn::Add(inner[r][j], more[r][j]));
        add_product(sums[r][j], both, sum);
      });
    });
  };
  for (int64_t i = 0; i < steps; ++i) {
    unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
      fetch(w + j * row_bytes + i * kBytes);
      fetch(w + j * row_bytes + i * kBytes + 64);
    });
    some(w + i * kBytes, row_bytes, from + i * kOrderedSize);
  }
  if (const int64_t left = blocks % kTogether) {
    uint8_t padded[kWeights * kBytes] = {};
    unrolled<kWeights>([&]<int j>() HOTARU_SIMD_LAMBDA {
      std::memcpy(padded + j * kBytes, w + j * row_bytes + steps * kBytes,
                  size_t(left * kBytes4));
    });
    some(padded, kBytes, from + steps * kOrderedSize);
  }
}

HWY_ATTR void q4_0(const FewRows& x, int64_t n, const uint8_t* w,
                   const FewSums& out) {
  const int64_t bytes = x.k / kBlock * kBytes4;
  by_blocks<2, 2>(x.m, n,
                  [&]<int kRows, int kWeights>(int64_t row, int64_t j)
                      HOTARU_SIMD_LAMBDA {
                        Sums<kRows, kWeights> sums;
                        q4_0_rows<kRows, kWeights>(x, row, w + j * bytes, sums);
                        store_sums<kRows, kWeights>(sums, out, row, j);
                      });
}

WeightOnlyKernels table() {
  return {&int8, &q8_0, &q4_0, &q4_0_order, &q4_0_size};
}

#endif

}  // namespace
}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(table);

const WeightOnlyKernels& weight_only_kernels() {
  static const WeightOnlyKernels kernels = HWY_DYNAMIC_DISPATCH(table)();
  return kernels;
}

}  // namespace hotaru::cpu
#endif
