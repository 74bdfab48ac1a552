// Products of bfloat16 by AMX on packed operands.
#pragma once

#include "hotaru/backend/cpu/matmul/gemm_bf16.h"
#include "hotaru/backend/cpu/matmul/gemm_kernel.h"

namespace hotaru::amx {

/// Tells whether the processor has the tiles, or they are emulated, and vectors
/// have eight or 16 floats.
bool has_products();

/// C = act(alpha A B + beta C + bias) as gemm_bf16(); k > 0. B has words of two
/// numbers along the depth; panels are as wide as those of
/// pair_kernels(). Rows of A are packed,
/// as many as the second-level cache holds, and read by all threads. With
/// `rounded` C is there, of bfloat16, and c is null, unless beta reads it.
void gemm_tiles(int64_t m, int64_t n, int64_t k, float alpha,
                const Bf16Matrix& a, const Factor<float>& b, float beta,
                float* c, int64_t ldc, const Epilogue<float>& epilogue,
                BFloat16* rounded = nullptr, int64_t ld_rounded = 0);

}  // namespace hotaru::amx
