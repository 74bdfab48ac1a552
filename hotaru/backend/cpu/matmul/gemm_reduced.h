// Matrix multiplication of 16-bit floating numbers: as float, rounded once.
#pragma once

#include <algorithm>
#include <vector>

#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/matmul/halves/gemm_widened.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"

namespace hotaru {

/// C = act(beta C + bias + residual + product) of 16-bit floats: multiply(sums,
/// beta, epilogue) adds the product in float, rows n apart; rounded once. No
/// scale and shift. Where nothing is added at_once(epilogue) may do all of it;
/// else it is false.
template <class T, class F, class AtOnce>
void through_sums(int64_t m, int64_t n, float beta, T* c, int64_t ldc,
                  const Epilogue<T>& epilogue, const F& multiply,
                  const AtOnce& at_once) {
  if (m <= 0 || n <= 0) return;
  Epilogue<float> finish;
  finish.activation = epilogue.activation;
  std::vector<float> bias;
  if (epilogue.bias) {
    bias.resize(size_t(epilogue.bias_per_row ? m : n));
    cpu::widen(epilogue.bias, bias.data(), int64_t(bias.size()));
    finish.bias = bias.data();
    finish.bias_per_row = epilogue.bias_per_row;
  }
  if (beta == 0 && !epilogue.residual && at_once(finish)) return;
  float* sums = scratch<float>(ScratchUse::kReducedSums, m * n);
  const T* added = beta != 0 ? c : epilogue.residual;
  const int64_t stride = beta != 0 ? ldc : epilogue.residual_stride;
  if (added)
    for (int64_t i = 0; i < m; ++i)
      cpu::widen(added + i * stride, sums + i * n, n);
  multiply(sums, beta != 0 ? beta : added ? 1.0f : 0.0f, finish);
  parallel_for(0, m, cpu::row_grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      cpu::narrow(sums + i * n, c + i * ldc, n);
  });
}

template <class T, class F>
void through_sums(int64_t m, int64_t n, float beta, T* c, int64_t ldc,
                  const Epilogue<T>& epilogue, const F& multiply) {
  through_sums(m, n, beta, c, ldc, epilogue, multiply,
               [](const Epilogue<float>&) { return false; });
}

/// See gemm(). Takes four bytes of memory for each element of C. Not beta and a
/// residual at once.
inline void gemm_pairs_rounded(int64_t m, int64_t n, int64_t k, float alpha,
                               MatrixRef<BFloat16> a, MatrixRef<BFloat16> b,
                               float beta, BFloat16* c, int64_t ldc,
                               const Epilogue<BFloat16>& epilogue) {
  k = std::max<int64_t>(k, 0);
  through_sums(
      m, n, beta, c, ldc, epilogue,
      [&](float* sums, float add, const Epilogue<float>& finish) {
        gemm_bf16(m, n, k, alpha, a, b, add, sums, n, finish);
      },
      [&](const Epilogue<float>& finish) {
        return gemm_rounded(m, n, k, alpha, a, b, c, ldc, finish);
      });
}

/// The same by floats, with four bytes for each element of A, too.
template <class T>
void gemm_through_floats(int64_t m, int64_t n, int64_t k, float alpha,
                         MatrixRef<T> a, MatrixRef<T> b, float beta, T* c,
                         int64_t ldc, const Epilogue<T>& epilogue) {
  k = std::max<int64_t>(k, 0);
  through_sums(m, n, beta, c, ldc, epilogue,
               [&](float* sums, float add, const Epilogue<float>& finish) {
                 gemm_widened(m, n, k, alpha, a, b, add, sums, n, finish);
               });
}

}  // namespace hotaru
