#include "hotaru/backend/cpu/matmul/narrow/int4_quads.h"

#include <algorithm>

#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/narrow/int4_quads.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

// Below simd.h, which chooses the target.
#include "hotaru/backend/cpu/matmul/narrow/parts-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
#if HWY_TARGET == HWY_AVX3

// Parts of a group of a row: words of the first bytes, of the second and of the
// third, four columns each; then scale and sum of x.
constexpr int64_t kScale = 0, kSum = 1, kRest = 4;
// Vectors of a block's rows.
constexpr int kVectors = int(kInt4Rows / kLanes);

constexpr int64_t words_of(int64_t group) {
  return kParts * group / 4;
}

/// Bytes of a and b, those of b from 64 on.
HWY_INLINE W chosen(W indices, W a, W b) {
  asm("vpermi2b %2, %1, %0" : "+v"(indices.raw) : "v"(a.raw), "v"(b.raw));
  return indices;
}

bool order(const float* x, int64_t k, int64_t group, float* to) {
  for (int64_t i = 0; i < k; i += group, to += words_of(group) + kRest) {
    const Extent e = extent_of(x + i, group);
    if (!e.has_parts) return false;
    split(x + i, group, e.inverse(), group, reinterpret_cast<int8_t*>(to));
    float* rest = to + words_of(group);
    std::fill_n(rest, kRest, 0.0f);
    rest[kScale] = e.scale();
    rest[kSum] = e.sum;
  }
  return true;
}

/// Where the words of rows 0 to 15 have their bytes in four columns of 32 bytes
/// each: low bits of those rows, high bits of the rows 32 beyond.
HWY_INLINE W first_rows() {
  const Words d;
  return hn::Add(hn::Mul(hn::Iota(d, 0), hn::Set(d, 0x01010101u)),
                 hn::Set(d, 0x60402000u));
}

/// Adds a group's products to the sums of kRows rows of x, from x on.
template <int kRows, class S>
HWY_INLINE void add_group(const float* x, int64_t stride, int64_t group,
                          const uint8_t* w, const S* scales,
                          V (&to)[kRows][kVectors]) {
  const D d;
  const Words words;
  const hn::RebindToSigned<Words> whole;
  const hn::Repartition<uint8_t, Words> bytes;
  const W low_bits = hn::Set(words, 0x0f0f0f0fu);
  const W first = first_rows();
  const W second = hn::Add(first, hn::Set(words, 0x10101010u));
  Integers sums[kRows][kVectors][kParts];
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kVectors>([&]<int q>() HOTARU_SIMD_LAMBDA {
      unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
        sums[r][q][part] = hn::Zero(whole);
      });
    });
  });
  const auto* x_words = reinterpret_cast<const int32_t*>(x);
  for (int64_t i = 0; i < group / 4; ++i, w += 128) {
    fetch(w);
    fetch(w + 64);
    const W a = hn::BitCast(words, hn::LoadU(bytes, w));
    const W b = hn::BitCast(words, hn::LoadU(bytes, w + 64));
    const W both[2] = {chosen(first, a, b), chosen(second, a, b)};
    unrolled<2>([&]<int h>() HOTARU_SIMD_LAMBDA {
      const W low = hn::And(both[h], low_bits);
      const W high = hn::And(hn::ShiftRight<4>(both[h]), low_bits);
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
          const Integers xs =
              hn::Set(whole, x_words[r * stride + part * (group / 4) + i]);
          sums[r][h][part] = add_quads(low, xs, sums[r][h][part]);
          sums[r][2 + h][part] = add_quads(high, xs, sums[r][2 + h][part]);
        });
      });
    });
  }
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    const float* rest = x + r * stride + words_of(group);
    const V sum = hn::Set(d, rest[kSum]), eight = hn::Set(d, -8 * rest[kSum]);
    const V by[kParts] = {hn::Set(d, rest[kScale] * 65536),
                          hn::Set(d, rest[kScale] * 256),
                          hn::Set(d, rest[kScale])};
    unrolled<kVectors>([&]<int q>() HOTARU_SIMD_LAMBDA {
      V dot = eight;
      unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
        dot = hn::MulAdd(hn::ConvertTo(d, sums[r][q][part]), by[part], dot);
      });
      V scale, zero;
      load_pairs(scales + 2 * q * kLanes, scale, zero);
      to[r][q] = hn::MulAdd(scale, dot, hn::MulAdd(zero, sum, to[r][q]));
    });
  });
}

/// Groups [begin, end) of some rows of x: to their sums, which begin with the
/// first group.
template <int kRows, class S>
void add_groups(const FewRows& x, int64_t row, int64_t begin, int64_t end,
                const Int4Block<S>& block, const FewSums& out) {
  const D d;
  V sums[kRows][kVectors];
  float* to = out.data + row * out.stride;
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kVectors>([&]<int q>() HOTARU_SIMD_LAMBDA {
      sums[r][q] = begin == 0 ? hn::Zero(d)
                              : hn::LoadU(d, to + r * out.stride + q * kLanes);
    });
  });
  const int64_t floats = words_of(block.group) + kRest;
  const int64_t bytes = block.group * (kInt4Rows / 2);
  for (int64_t g = begin; g < end; ++g) {
    fetch_pairs(block, g, x.k);
    add_group<kRows>(x.x + row * x.stride + g * floats, x.stride, block.group,
                     block.w + g * bytes, block.scales + g * block.apart, sums);
  }
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kVectors>([&]<int q>() HOTARU_SIMD_LAMBDA {
      hn::StoreU(sums[r][q], d, to + r * out.stride + q * kLanes);
    });
  });
}

template <class S>
void multiply(const FewRows& x, const Int4Block<S>& block, const FewSums& out) {
  constexpr int kMost = 2;
  // All groups with sums in registers, or, so that more rows find a group's
  // bytes in the nearest cache, one after the other.
  const int64_t groups = x.k / block.group, step = x.m <= kMost ? groups : 1;
  for (int64_t g = 0; g < groups; g += step)
    by_rows<kMost>(x.m, [&]<int kRows>(int64_t row) HOTARU_SIMD_LAMBDA {
      add_groups<kRows>(x, row, g, g + step, block, out);
    });
}

Int4Quads quads_table() {
  return {&order, {&multiply<float>, &multiply<BFloat16>}};
}

#else

Int4Quads quads_table() {
  return {};
}

#endif
}  // namespace
}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(quads_table);

const Int4Quads* int4_quads() {
  static const Int4Quads table = HWY_DYNAMIC_DISPATCH(quads_table)();
  static const bool usable =
      table.order && simd_has_int8_products() && simd_has_byte_permutations();
  return usable ? &table : nullptr;
}

}  // namespace hotaru::cpu
#endif
