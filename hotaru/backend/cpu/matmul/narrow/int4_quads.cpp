#include "hotaru/backend/cpu/matmul/narrow/int4_quads.h"

#include <algorithm>
#include <cmath>

#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/narrow/int4_quads.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

// Below simd.h, which chooses the target.
#include "hotaru/backend/cpu/matmul/narrow/weight_only-inl.h"
#include "hotaru/backend/cpu/simd/quads-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
#if HWY_TARGET == HWY_AVX3

// Bytes of a number. What belongs to a group of a row: words of the first ones,
// of the second and of the third, four columns each; then scale and sum of x.
constexpr int kParts = 3;
constexpr int64_t kScale = 0, kSum = 1, kRest = 4;
// So that all of them are signed bytes.
constexpr float kMost = 127 * 65536;

constexpr int64_t words_of(int64_t group) {
  return kParts * group / 4;
}

using Integers = hn::Vec<hn::RebindToSigned<Words>>;
using hotaru::HWY_NAMESPACE::add_quads;

/// Bytes of a and b, those of b from 64 on.
HWY_INLINE W chosen(W indices, W a, W b) {
  asm("vpermi2b %2, %1, %0" : "+v"(indices.raw) : "v"(a.raw), "v"(b.raw));
  return indices;
}

bool order_group(const float* x, int64_t group, float* to) {
  float most = 0, sum = 0;
  for (int64_t i = 0; i < group; ++i) {
    most = std::max(most, std::fabs(x[i]));
    sum += x[i];
  }
  // Of numbers so small the inverse would be infinite.
  if (!std::isfinite(sum) || !std::isfinite(most) ||
      (most > 0 && most < 1e-33f))
    return false;
  const float by = most > 0 ? kMost / most : 0;
  auto* bytes = reinterpret_cast<int8_t*>(to);
  for (int64_t i = 0; i < group; ++i) {
    auto v = int32_t(std::nearbyint(x[i] * by));
    for (int64_t part = kParts - 1; part >= 0; --part) {
      const auto byte = int8_t(v);
      bytes[part * group + i] = byte;
      v = (v - byte) / 256;
    }
  }
  float* rest = to + words_of(group);
  std::fill_n(rest, kRest, 0.0f);
  rest[kScale] = most / kMost;
  rest[kSum] = sum;
  return true;
}

bool order(const float* x, int64_t k, int64_t group, float* to) {
  for (int64_t i = 0; i < k; i += group, to += words_of(group) + kRest)
    if (!order_group(x + i, group, to)) return false;
  return true;
}

/// Where the words of rows 0 to 15 have their bytes in four columns of 32 bytes
/// each: low bits of those rows, high bits of the rows 32 beyond.
HWY_INLINE W first_rows() {
  const Words d;
  return hn::Add(hn::Mul(hn::Iota(d, 0), hn::Set(d, 0x01010101u)),
                 hn::Set(d, 0x60402000u));
}

template <int kRows, class S>
void rows(const FewRows& x, int64_t row, int64_t begin, int64_t group,
          const uint8_t* w, const S* scales, const FewSums& out) {
  const D d;
  const Words words;
  const hn::RebindToSigned<Words> whole;
  const hn::Repartition<uint8_t, Words> bytes;
  const float* from =
      x.x + row * x.stride + begin / group * (words_of(group) + kRest);
  const W low_bits = hn::Set(words, 0x0f0f0f0fu);
  const W first = first_rows();
  const W second = hn::Add(first, hn::Set(words, 0x10101010u));
  Integers sums[kRows][4][kParts];
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<4>([&]<int q>() HOTARU_SIMD_LAMBDA {
      unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
        sums[r][q][part] = hn::Zero(whole);
      });
    });
  });
  const uint8_t* at = w + begin * (kInt4Rows / 2);
  const auto* x_words = reinterpret_cast<const int32_t*>(from);
  for (int64_t i = 0; i < group / 4; ++i, at += 128) {
    fetch(at);
    fetch(at + 64);
    const W a = hn::BitCast(words, hn::LoadU(bytes, at));
    const W b = hn::BitCast(words, hn::LoadU(bytes, at + 64));
    const W both[2] = {chosen(first, a, b), chosen(second, a, b)};
    unrolled<2>([&]<int h>() HOTARU_SIMD_LAMBDA {
      const W low = hn::And(both[h], low_bits);
      const W high = hn::And(hn::ShiftRight<4>(both[h]), low_bits);
      unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
        unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
          const Integers xs =
              hn::Set(whole, x_words[r * x.stride + part * (group / 4) + i]);
          sums[r][h][part] = add_quads(low, xs, sums[r][h][part]);
          sums[r][2 + h][part] = add_quads(high, xs, sums[r][2 + h][part]);
        });
      });
    });
  }
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    const float* rest = from + r * x.stride + words_of(group);
    const V sum = hn::Set(d, rest[kSum]), eight = hn::Set(d, -8 * rest[kSum]);
    const V by[kParts] = {hn::Set(d, rest[kScale] * 65536),
                          hn::Set(d, rest[kScale] * 256),
                          hn::Set(d, rest[kScale])};
    float* to = out.data + (row + r) * out.stride;
    unrolled<4>([&]<int q>() HOTARU_SIMD_LAMBDA {
      V dot = eight;
      unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
        dot = hn::MulAdd(hn::ConvertTo(d, sums[r][q][part]), by[part], dot);
      });
      V scale, zero;
      load_pairs(scales + 2 * q * kLanes, scale, zero);
      const V before = hn::MulAdd(zero, sum, hn::LoadU(d, to + q * kLanes));
      hn::StoreU(hn::MulAdd(scale, dot, before), d, to + q * kLanes);
    });
  });
}

template <class S>
void add(const FewRows& x, int64_t begin, int64_t group, const uint8_t* w,
         const S* scales, const FewSums& out) {
  by_rows<2>(x.m, [&]<int kRows>(int64_t row) HOTARU_SIMD_LAMBDA {
    rows<kRows>(x, row, begin, group, w, scales, out);
  });
}

Int4Quads quads_table() {
  return {&order, &add<float>, &add<BFloat16>};
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
      table.add && simd_has_int8_products() && simd_has_byte_permutations();
  return usable ? &table : nullptr;
}

}  // namespace hotaru::cpu
#endif
