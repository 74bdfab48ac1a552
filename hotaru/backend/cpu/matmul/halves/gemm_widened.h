// Products of 16-bit floats by the kernels of floats: B becomes floats where it
// is packed, a panel at a time, so that memory gives it once and in half the
// bytes. On raw memory; results do not depend on the number of threads.
#pragma once

#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/scratch.h"

namespace hotaru {

/// A (m x k) as floats in the calling thread's scratch; its rows or its columns
/// stay contiguous. T: Half, BFloat16.
template <class T>
MatrixRef<float> widened_matrix(int64_t m, int64_t k, MatrixRef<T> a,
                                ScratchUse use);

/// A product without depth: C = act(beta C + bias).
void add_nothing(int64_t m, int64_t n, float beta, float* c, int64_t ldc,
                 const Epilogue<float>& epilogue);

/// C = act(alpha A B + beta C + bias) as gemm(), with C and all that is added
/// in float. T: Half, BFloat16.
template <class T>
void gemm_widened(int64_t m, int64_t n, int64_t k, float alpha, MatrixRef<T> a,
                  MatrixRef<T> b, float beta, float* c, int64_t ldc,
                  const Epilogue<float>& epilogue);

/// B in the order in which it is read, as pack_matrix(): packed_size(k, n, 2)
/// elements at most.
PackedRef<Half> pack_half(int64_t k, int64_t n, MatrixRef<Half> b, Half* to);

/// Such a B as pack_matrix() writes it of floats: packed_size(k, n, 4) elements
/// at most.
PackedRef<float> widen_packed(PackedRef<Half> b, float* to);

/// gemm_widened with such a B, and A of Half or float.
template <class A>
void gemm_widened(int64_t m, float alpha, MatrixRef<A> a, PackedRef<Half> b,
                  float beta, float* c, int64_t ldc,
                  const Epilogue<float>& epilogue);

}  // namespace hotaru
