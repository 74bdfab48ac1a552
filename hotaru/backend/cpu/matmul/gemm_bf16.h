// Products of bfloat16 with sums in float, on raw memory. Work is divided over
// parallel_for; results do not depend on the number of threads.
#pragma once

#include "hotaru/backend/cpu/matmul/gemm.h"
#include "hotaru/backend/cpu/matmul/pair_kernels.h"

namespace hotaru {

/// A matrix of bfloat16, or of floats that are rounded to bfloat16.
struct Bf16Matrix {
  Bf16Matrix(MatrixRef<BFloat16> m)
      : data(m.data), row_stride(m.row_stride), col_stride(m.col_stride) {}
  Bf16Matrix(MatrixRef<float> m)
      : data(m.data),
        is_float(true),
        row_stride(m.row_stride),
        col_stride(m.col_stride) {}

  const void* data;
  bool is_float = false;
  int64_t row_stride, col_stride;
};

/// Tells whether gemm_bf16 is faster than a product of floats made of the same
/// numbers, m rows of them: everywhere with instructions for it, else where
/// what takes time is to read B.
bool suits_bf16(int64_t m);

/// Tells whether it is for floats of m rows and n columns that may be rounded,
/// whose rounding takes time, too.
bool pays_to_round(int64_t m, int64_t n);

/// C = act(alpha A B + beta C + bias) as gemm(), with C and all that is added
/// in float. Subnormal numbers may count as zero.
void gemm_bf16(int64_t m, int64_t n, int64_t k, float alpha,
               const Bf16Matrix& a, const Bf16Matrix& b, float beta, float* c,
               int64_t ldc, const Epilogue<float>& epilogue = {});

/// C = act(A B + bias) rounded to bfloat16, where AMX does that at once:
/// otherwise false, and nothing was done.
bool gemm_rounded(int64_t m, int64_t n, int64_t k, float alpha,
                  const Bf16Matrix& a, const Bf16Matrix& b, BFloat16* c,
                  int64_t ldc, const Epilogue<float>& epilogue);

/// The same with a B of words (pairs along the depth of k numbers, of which an
/// odd last one has a zero): how the kernels read it; k > 0.
void gemm_pairs(int64_t m, int64_t n, int64_t k, float alpha,
                const Bf16Matrix& a, const Factor<float>& b, float beta,
                float* c, int64_t ldc, const Epilogue<float>& epilogue);

/// B in the order in which it is read, as pack_matrix(): packed_size(k, n, 2)
/// elements at most.
PackedRef<BFloat16> pack_bf16(int64_t k, int64_t n, const Bf16Matrix& b,
                              BFloat16* to);

/// gemm_rounded with such a B.
bool gemm_rounded(int64_t m, float alpha, const Bf16Matrix& a,
                  PackedRef<BFloat16> b, BFloat16* c, int64_t ldc,
                  const Epilogue<float>& epilogue);

/// gemm_bf16 with such a B.
void gemm_bf16(int64_t m, float alpha, const Bf16Matrix& a,
               PackedRef<BFloat16> b, float beta, float* c, int64_t ldc,
               const Epilogue<float>& epilogue = {});

}  // namespace hotaru
