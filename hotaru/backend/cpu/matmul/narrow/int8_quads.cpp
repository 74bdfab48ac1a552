#include "hotaru/backend/cpu/matmul/narrow/int8_quads.h"

#include <algorithm>
#include <cstring>

#include "hotaru/backend/cpu/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/matmul/narrow/int8_quads.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

// Below simd.h, which chooses the target.
#include "hotaru/backend/cpu/matmul/narrow/parts-inl.h"
#include "hotaru/backend/cpu/simd/four_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
#if HWY_TARGET == HWY_AVX3

// A row in its form: for each kStep numbers their first bytes, their second and
// their third ones, zeros beyond the row; then what is of the whole row.
constexpr int64_t kStep = 64, kStepBytes = kParts * kStep;

struct Rest {
  // 128 times what each part adds up to: what weights without a sign, which
  // they are for a product of quads, add to sums.
  int32_t offsets[4];
  double scale;
};

const int8_t* step_of(const float* row, int64_t i) {
  return reinterpret_cast<const int8_t*>(row) + i / kStep * kStepBytes;
}

int64_t steps_end(int64_t k) {
  return (k + kStep - 1) / kStep * kStep;
}

Rest rest_of(const float* row, int64_t k) {
  Rest rest;
  std::memcpy(&rest, step_of(row, steps_end(k)), sizeof rest);
  return rest;
}

/// Tells whether one scale serves n numbers about as well as floats do,
/// whatever they are multiplied by: what each is rounded to is 2^-24 of the
/// largest, which is at most 64 times the mean of the others.
bool is_even(const Extent& e, int64_t n) {
  const double others = double(e.sizes) - double(e.most);
  return n == 1 || e.most == 0 || double(e.most) * double(n - 1) <= 64 * others;
}

bool order(const float* x, int64_t k, float* to) {
  const Extent e = extent_of(x, k);
  if (!e.has_parts || !is_even(e, k)) return false;
  auto* at = reinterpret_cast<int8_t*>(to);
  Rest rest{{0, 0, 0, 0}, double(e.scale())};
  for (int64_t i = 0; i < k; i += kStep, at += kStepBytes) {
    const int64_t count = std::min(kStep, k - i);
    if (count < kStep) std::memset(at, 0, kStepBytes);
    split(x + i, count, e.inverse(), kStep, at);
    for (int part = 0; part < kParts; ++part) {
      int32_t sum = 0;
      for (int64_t b = 0; b < kStep; ++b) sum += at[part * kStep + b];
      rest.offsets[part] += 128 * sum;
    }
  }
  std::memcpy(at, &rest, sizeof rest);
  return true;
}

template <int kRows>
using PartSums = Integers[kRows][kParts];

/// Weights of a step times those numbers of kRows rows of x.
template <int kRows>
HWY_INLINE void add_step(const int8_t* x, int64_t stride, W weights,
                         PartSums<kRows>& sums) {
  const hn::RebindToSigned<Words> whole;
  const W positive = hn::Xor(weights, hn::Set(Words(), 0x80808080u));
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
      const auto* at = x + r * stride + part * kStep;
      const Integers xs =
          hn::LoadU(whole, reinterpret_cast<const int32_t*>(at));
      sums[r][part] = add_quads(positive, xs, sums[r][part]);
    });
  });
}

HWY_INLINE W load_step(const int8_t* w) {
  return hn::LoadU(Words(), reinterpret_cast<const uint32_t*>(w));
}

/// The first `count` of a step's weights.
HWY_INLINE W load_step(const int8_t* w, int64_t count) {
  const hn::Repartition<uint8_t, Words> bytes;
  return hn::BitCast(Words(),
                     hn::MaskedLoad(hn::FirstN(bytes, size_t(count)), bytes,
                                    reinterpret_cast<const uint8_t*>(w)));
}

HWY_INLINE float total(const Integers (&parts)[kParts], const Rest& rest) {
  const hn::RebindToSigned<Words> whole;
  const hn::CappedTag<int32_t, 4> four;
  const auto sums = hotaru::HWY_NAMESPACE::four_sums(whole, parts[0], parts[1],
                                                     parts[2], hn::Zero(whole));
  HWY_ALIGN int32_t dots[4];
  hn::Store(hn::Sub(sums, hn::LoadU(four, rest.offsets)), four, dots);
  return float((65536.0 * dots[0] + 256.0 * dots[1] + dots[2]) * rest.scale);
}

/// Bytes ahead of which weights are fetched: as many as are on their way at the
/// memory's speed. x has three bytes a number beside them in the nearest cache,
/// so what is fetched earlier is gone again: of 8 KiB an Intel Xeon has 0.77 of
/// its speed, of 16 an EPYC 0.95.
HWY_INLINE int64_t fetched_ahead() {
  static const int64_t bytes = simd_is_intel() ? 2048 : 8192;
  return bytes;
}

/// A row of weights times kRows rows of x. One row, as one stream of memory is
/// faster than several, or than pieces of rows.
template <int kRows>
void row_of_weights(const FewRows& x, int64_t row, const int8_t* w, float* out,
                    int64_t apart) {
  const float* from = x.x + row * x.stride;
  const int64_t stride = x.stride * int64_t{sizeof(float)};
  // Even and odd steps apart: additions to one sum wait for each other.
  PartSums<kRows> sums, odd;
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
      sums[r][part] = odd[r][part] = hn::Zero(hn::RebindToSigned<Words>());
    });
  });
  const int8_t* at = step_of(from, 0);
  const int64_t ahead = fetched_ahead();
  int64_t i = 0;
  for (; i + 2 * kStep <= x.k; i += 2 * kStep, at += 2 * kStepBytes) {
    __builtin_prefetch(w + i + ahead);
    __builtin_prefetch(w + i + ahead + kStep);
    add_step<kRows>(at, stride, load_step(w + i), sums);
    add_step<kRows>(at + kStepBytes, stride, load_step(w + i + kStep), odd);
  }
  if (i + kStep <= x.k) {
    add_step<kRows>(at, stride, load_step(w + i), sums);
    i += kStep;
    at += kStepBytes;
  }
  if (i < x.k) add_step<kRows>(at, stride, load_step(w + i, x.k - i), odd);
  unrolled<kRows>([&]<int r>() HOTARU_SIMD_LAMBDA {
    unrolled<kParts>([&]<int part>() HOTARU_SIMD_LAMBDA {
      sums[r][part] = hn::Add(sums[r][part], odd[r][part]);
    });
    out[r * apart] = total(sums[r], rest_of(from + r * x.stride, x.k));
  });
}

void multiply(const FewRows& x, int64_t n, const int8_t* w,
              const FewSums& out) {
  for (int64_t j = 0; j < n; ++j)
    by_rows<4>(x.m, [&]<int kRows>(int64_t row) HOTARU_SIMD_LAMBDA {
      row_of_weights<kRows>(x, row, w + j * x.k,
                            out.data + row * out.stride + j, out.stride);
    });
}

Int8Quads int8_table() {
  return {&order, &multiply};
}

#else

Int8Quads int8_table() {
  return {};
}

#endif
}  // namespace
}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(int8_table);

const Int8Quads* int8_quads() {
  static const Int8Quads table = HWY_DYNAMIC_DISPATCH(int8_table)();
  static const bool usable = table.order && simd_has_int8_products();
  return usable ? &table : nullptr;
}

}  // namespace hotaru::cpu
#endif
