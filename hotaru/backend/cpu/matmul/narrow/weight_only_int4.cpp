#include <algorithm>

#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/backend/cpu/matmul/narrow/weight_only_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/matmul/narrow/weight_only_int4.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

// Below simd.h, which chooses the target.
#include "hotaru/backend/cpu/matmul/narrow/weight_only-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
#if HWY_TARGET == HWY_SCALAR

Int4Kernels int4_table() {
  return plain_int4_kernels();
}

#else

// A block of 64 rows of int4 has 32 bytes a column: a vector holds two
// columns, one, or a half. Bits 4 * s of word w are of row 4 * w + s / 2, or 32
// beyond it where s is odd.
constexpr int64_t kColumnBytes = kInt4Rows / 2;
constexpr int64_t kColumns = kLanes == 16 ? 2 : 1;
constexpr int64_t kHalves = kLanes == 4 ? 2 : 1;

HWY_ATTR HWY_INLINE W column_words(const uint8_t* at) {
  const hn::Repartition<uint8_t, Words> bytes;
  return hn::BitCast(Words(), hn::LoadU(bytes, at));
}

/// x of one or two columns, on the lanes of each.
HWY_ATTR HWY_INLINE V column_x(const float* x) {
  const D d;
  if constexpr (kColumns == 1) return hn::Set(d, x[0]);
  return hn::IfThenElse(hn::FirstN(d, kLanes / 2), hn::Set(d, x[0]),
                        hn::Set(d, x[1]));
}

/// Sums by word and bits to those by row.
HWY_ATTR HWY_INLINE void store_words(const V (&sums)[8], float* to) {
  const D d;
  for (int high = 0; high < 2; ++high) {
    const V &a = sums[high], &b = sums[2 + high], &c = sums[4 + high],
            &e = sums[6 + high];
    if constexpr (kColumns == 2) {
      const hn::Half<D> half;
      const auto both = [&](V v) HOTARU_SIMD_LAMBDA {
        return hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
      };
      hn::StoreInterleaved4(both(a), both(b), both(c), both(e), half,
                            to + high * 32);
    } else {
      hn::StoreInterleaved4(a, b, c, e, d, to + high * 32);
    }
  }
}

// Scales of rows j % 4 of the low and of the high bits.
HWY_ALIGN constexpr float kNibbleScales[2][4] = {
    {nibble_scale(0), nibble_scale(2), nibble_scale(4), nibble_scale(6)},
    {nibble_scale(1), nibble_scale(3), nibble_scale(5), nibble_scale(7)}};

template <int kRows, class S>
HWY_ATTR void int4_rows(const FewRows& x, int64_t row, int64_t begin,
                        int64_t group, const uint8_t* w, const S* scales,
                        const FewSums& out) {
  const D d;
  const float* from = x.x + row * x.stride + begin;
  HWY_ALIGN float dots[kRows][kInt4Rows];
  for (int64_t half = 0; half < kHalves; ++half) {
    Sums<kRows, 8> sums;
    clear<kRows, 8>(sums);
    const uint8_t* at = w + begin * kColumnBytes + half * 16;
    for (int64_t i = 0; i < group; i += kColumns) {
      fetch(at + i * kColumnBytes);
      const W words = column_words(at + i * kColumnBytes);
      V xs[kRows];
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        xs[r] = column_x(from + r * x.stride + i);
      });
      unrolled<8>([&]<int s>() HOTARU_SIMD_LAMBDA {
        const V q = nibbles<s>(words);
        unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
          add_product(sums[r][s], q, xs[r]);
        });
      });
    }
    unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
      store_words(sums[r], dots[r] + half * 16);
    });
  }
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    V total = hn::Zero(d);
    for (int64_t i = 0; i < group; i += kLanes)
      total = hn::Add(total, hn::LoadU(d, from + r * x.stride + i));
    const float sum = lane_sum(total);
    const V most = hn::Set(d, sum), eight = hn::Set(d, -8 * sum);
    float* to = out.data + (row + r) * out.stride;
    for (int64_t j = 0; j < kInt4Rows; j += kLanes) {
      V scale, zero;
      load_pairs(scales + 2 * j, scale, zero);
      const V unscale = hn::LoadDup128(d, kNibbleScales[j / 32]);
      const V dot = hn::MulAdd(hn::Load(d, dots[r] + j), unscale, eight);
      V made = hn::MulAdd(zero, most, hn::LoadU(d, to + j));
      made = hn::MulAdd(scale, dot, made);
      hn::StoreU(made, d, to + j);
    }
  });
}

template <class S>
HWY_ATTR void int4(const FewRows& x, const Int4Block<S>& block,
                   const FewSums& out) {
  for (int64_t i = 0; i < x.m; ++i)
    std::fill_n(out.data + i * out.stride, kInt4Rows, 0.0f);
  for (int64_t g = 0; g < x.k / block.group; ++g) {
    fetch_pairs(block, g, x.k);
    by_rows<2>(x.m, [&]<int kRows>(int64_t row) HOTARU_SIMD_LAMBDA {
      int4_rows<kRows>(x, row, g * block.group, block.group, block.w,
                       block.scales + g * block.apart, out);
    });
  }
}

HWY_ATTR void widen_int4(int64_t group, const uint8_t* w, const float* scales,
                         float* to) {
  float scale[kInt4Rows], zero[kInt4Rows];
  for (int64_t j = 0; j < kInt4Rows; ++j) {
    scale[j] = scales[2 * j];
    zero[j] = scales[2 * j + 1];
  }
  for (int64_t i = 0; i < group; ++i, to += kInt4Rows, w += kColumnBytes)
    for (int64_t j = 0; j < 32; ++j) {
      to[j] = float(int(w[j] & 15) - 8) * scale[j] + zero[j];
      to[j + 32] = float(int(w[j] >> 4) - 8) * scale[j + 32] + zero[j + 32];
    }
}

Int4Kernels int4_table() {
  return {{&int4<float>, &int4<BFloat16>}, &widen_int4};
}

#endif

}  // namespace
}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(int4_table);

const Int4Kernels& int4_kernels() {
  static const Int4Kernels kernels = HWY_DYNAMIC_DISPATCH(int4_table)();
  return kernels;
}

}  // namespace hotaru::cpu
#endif
