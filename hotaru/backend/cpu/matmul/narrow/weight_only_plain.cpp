// The parts of "weight_only_linear" without vectors.
#include <algorithm>
#include <cstring>

#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/backend/cpu/matmul/narrow/weight_only_rows.h"
#include "hotaru/core/half.h"

namespace hotaru::cpu {
namespace {

constexpr int64_t kBlock = 32;

/// Row by row; number(row of weights, column) is a weight.
template <class F>
void by_numbers(const FewRows& x, int64_t n, const FewSums& out,
                const F& number) {
  for (int64_t i = 0; i < x.m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t c = 0; c < x.k; ++c)
        sum += x.x[i * x.stride + c] * number(j, c);
      out.data[i * out.stride + j] = sum;
    }
}

float half_at(const uint8_t* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return Half::from_bits(bits);
}

void int8(const FewRows& x, int64_t n, const int8_t* w, const FewSums& out) {
  by_numbers(x, n, out,
             [&](int64_t j, int64_t c) { return float(w[j * x.k + c]); });
}

void q8_0(const FewRows& x, int64_t n, const uint8_t* w, const FewSums& out) {
  by_numbers(x, n, out, [&](int64_t j, int64_t c) {
    const uint8_t* block = w + (j * x.k + c) / kBlock * 34;
    return half_at(block) * float(int8_t(block[2 + c % kBlock]));
  });
}

void q4_0(const FewRows& x, int64_t n, const uint8_t* w, const FewSums& out) {
  by_numbers(x, n, out, [&](int64_t j, int64_t c) {
    const uint8_t* block = w + (j * x.k + c) / kBlock * 18;
    const int64_t i = c % kBlock;
    const int bits = block[2 + i % 16];
    return half_at(block) * float((i < 16 ? bits & 15 : bits >> 4) - 8);
  });
}

void q4_0_order(const float* x, int64_t k, float* to) {
  std::memcpy(to, x, size_t(k) * sizeof(float));
}

int64_t q4_0_size(int64_t k) {
  return k;
}

void widen_int4(int64_t group, const uint8_t* w, const float* scales,
                float* to) {
  for (int64_t i = 0; i < group; ++i, to += kInt4Rows, w += kInt4Rows / 2)
    for (int64_t j = 0; j < kInt4Rows; ++j) {
      const int q = j < 32 ? w[j] & 15 : w[j - 32] >> 4;
      to[j] = float(q - 8) * scales[2 * j] + scales[2 * j + 1];
    }
}

template <class S>
void int4(const FewRows& x, const Int4Block<S>& block, const FewSums& out) {
  float column[kInt4Rows], scales[2 * kInt4Rows];
  for (int64_t i = 0; i < x.m; ++i)
    std::fill_n(out.data + i * out.stride, kInt4Rows, 0.0f);
  for (int64_t c = 0; c < x.k; ++c) {
    const S* from = block.scales + c / block.group * block.apart;
    for (int64_t i = 0; i < 2 * kInt4Rows; ++i) scales[i] = float(from[i]);
    widen_int4(1, block.w + c * (kInt4Rows / 2), scales, column);
    for (int64_t i = 0; i < x.m; ++i)
      for (int64_t j = 0; j < kInt4Rows; ++j)
        out.data[i * out.stride + j] += x.x[i * x.stride + c] * column[j];
  }
}

}  // namespace

WeightOnlyKernels plain_weight_only_kernels() {
  return {&int8, &q8_0, &q4_0, &q4_0_order, &q4_0_size};
}

Int4Kernels plain_int4_kernels() {
  return {{&int4<float>, &int4<BFloat16>}, &widen_int4};
}

}  // namespace hotaru::cpu
