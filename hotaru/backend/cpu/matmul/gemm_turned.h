// Products whose B is the larger matrix and lies column by column, as weights
// of linear layers do: computed as the transpose of B^T A^T, so that B's rows
// are read as they lie and only A is packed.
#pragma once

#include "hotaru/backend/cpu/matmul/gemm.h"

namespace hotaru {

/// Rows of A that are served at most.
inline constexpr int64_t kMostTurnedRows = 96;

/// C = alpha A B and what follows, where it is.
void gemm_turned(int64_t m, int64_t n, int64_t k, float alpha,
                 MatrixRef<float> a, MatrixRef<float> b, float* c, int64_t ldc,
                 const Epilogue<float>& epilogue);

}  // namespace hotaru
