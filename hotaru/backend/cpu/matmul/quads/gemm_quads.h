// gemm_int8 by quads (quad_kernels.h).
#pragma once

#include "hotaru/backend/cpu/matmul/quads/quad_kernels.h"

namespace hotaru {

/// As gemm_int8, of m and n above zero; `packed` is what pack_quads wrote.
void gemm_quads(const QuadKernels& kernels, const Int8Product& product);

/// Multiplies few rows and a B whose columns are contiguous, which is read
/// once, where it lies.
void few_rows_by_quads(const QuadKernels& kernels, const Int8Product& product);

/// As pack_int8: at most packed_size(int8_packed_rows(k), n, 4) elements.
void pack_quads(const QuadKernels& kernels, int64_t k, int64_t n,
                const ByteMatrix& b, const int32_t* b_zero, int32_t* to);

}  // namespace hotaru
