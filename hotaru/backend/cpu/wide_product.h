// Products of floats or of bfloat16 into floats, and what floats become between
// two of them: for kernels that are templates over both.
#pragma once

#include <algorithm>
#include <type_traits>

#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/scratch.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"

namespace hotaru::cpu {

/// C = act(alpha A B + beta C + bias), as gemm(); T: float, BFloat16.
template <class T>
void multiply(int64_t m, int64_t n, int64_t k, float alpha, MatrixRef<T> a,
              MatrixRef<T> b, float beta, float* c, int64_t ldc,
              const Epilogue<float>& epilogue = {}) {
  if constexpr (std::is_same_v<T, float>)
    gemm<float>(m, n, k, alpha, a, b, beta, c, ldc, epilogue);
  else
    gemm_bf16(m, n, k, alpha, a, b, beta, c, ldc, epilogue);
}

/// The same with a B of pack_factor().
template <class T>
void multiply(int64_t m, float alpha, MatrixRef<T> a, PackedRef<T> b,
              float beta, float* c, const Epilogue<float>& epilogue = {}) {
  if constexpr (std::is_same_v<T, float>)
    gemm<float>(m, alpha, a, b, beta, c, b.n, epilogue);
  else
    gemm_bf16(m, alpha, a, b, beta, c, b.n, epilogue);
}

/// B in the order in which it is read: packed_size(k, n, sizeof(T)) elements at
/// most.
template <class T>
PackedRef<T> pack_factor(int64_t k, int64_t n, MatrixRef<T> b, T* to) {
  if constexpr (std::is_same_v<T, float>)
    return pack_matrix(k, n, b, to);
  else
    return pack_bf16(k, n, b, to);
}

/// Floats as factors of a product: themselves, or rounded into `room`, which is
/// null for floats.
inline const float* rounded(const float* x, int64_t, float*) {
  return x;
}
inline const BFloat16* rounded(const float* x, int64_t n, BFloat16* room) {
  narrow(x, room, n);
  return room;
}
/// Scratch memory for rounded().
template <class T>
T* room_for(ScratchUse use, int64_t n) {
  return std::is_same_v<T, float> ? nullptr : scratch<T>(use, n);
}

/// Floats to where results lie.
inline void put(const float* from, int64_t n, float* to) {
  std::copy_n(from, n, to);
}
inline void put(const float* from, int64_t n, BFloat16* to) {
  narrow(from, to, n);
}

}  // namespace hotaru::cpu
