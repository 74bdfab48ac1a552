// Matrix products by cuBLASLt, where it is. Row-major products are the
// transposed ones of a library that counts by columns.
#pragma once

#include "hotaru/backend/cuda/libraries/cublaslt_entries.h"
#include "hotaru/backend/cuda/params/matmul.h"
#include "hotaru/core/dtype.h"
#include "hotaru/runtime/accelerator.h"

namespace hotaru::cuda {

/// Queues a product of floating or complex elements on the launching stream:
/// as p says it, whose plan is not read. False, and nothing was done, where
/// cuBLASLt is not here or has no kernel for it: strides that are neither rows
/// nor columns, a device's scale, activations other than ReLU and the tanh form
/// of GELU. Float32 is rounded to TF32 where allows_tf32() says so. `out` is
/// the output's dtype, float32 or that of the operands.
bool multiply_by_cublaslt(const MatmulParams& p, DType dtype, DType out);
/// Tells whether the library reads a matrix as it lies: by rows or by columns.
bool cublaslt_reads(int64_t rows, int64_t columns, const MatrixStrides& at);
bool has_cublaslt();

DeviceLibrary cublaslt_report();

}  // namespace hotaru::cuda
