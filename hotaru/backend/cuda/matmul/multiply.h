// Products of floats, for the kernels that are made of them.
#pragma once

#include <algorithm>

#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/matmul.h"
#include "hotaru/core/dtype.h"

namespace hotaru::cuda {

/// Queues a product on the launching stream, by cuBLASLt or by our own kernels;
/// p says sizes, strides and addresses, the rest is planned here. Throws Error
/// for more outputs than 32 bits count.
void multiply(MatmulParams& p, DType dtype);

/// Launches a product that was planned and, if its sums were cut, their end.
template <class Params>
void launch_product(Params& p, DType dtype, const Functions& product,
                    const Functions& end) {
  const auto sum = std::max(int64_t(itemsize(dtype)), int64_t{4});
  const auto bytes = size_t(workspace_bytes(p, sum));
  const Workspace workspace{bytes};
  p.workspace = bytes ? workspace.data() : nullptr;
  launch(product.of(dtype), {unsigned(matmul_tiles(p)), p.splits}, kBlock, p);
  if (p.workspace)
    launch(end.of(dtype), {unsigned(matmul_end_blocks(p))}, kBlock, p);
}

}  // namespace hotaru::cuda
