// Products of floats, for the kernels that are made of them.
#pragma once

#include "hotaru/backend/cuda/params/matmul.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cuda {

/// Queues a product on the launching stream, by cuBLASLt or by our own kernels;
/// p says sizes, strides and addresses, the rest is planned here. Throws Error
/// for more outputs than 32 bits count.
void multiply(MatmulParams& p, DType dtype);

}  // namespace hotaru::cuda
