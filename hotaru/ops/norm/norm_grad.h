// Gradients of normalisation: fused kernels, or differentiable operators when
// the backward pass itself is recorded.
#pragma once

#include "hotaru/backend/common/norm/norm.h"
#include "hotaru/ops/boxing.h"

namespace hotaru {

/// After "row_norm": out from x, with the statistics the kernel wrote. `name`
/// is that of the node.
void record_row_norm(const char* name, const Tensor& out, const Tensor& x,
                     const Tensor& weight, const Tensor& bias,
                     const Tensor& mean, const Tensor& rstd,
                     const RowNormAttributes& attributes);
/// Records the statistics of rows of x, as many as there are elements in
/// `mean`, as results of their own.
void record_statistics(const char* name, const Tensor& mean, const Tensor& rstd,
                       const Tensor& x, double eps);
/// After "batch_norm".
void record_batch_norm(const Tensor& out, const Tensor& x, const Tensor& weight,
                       const Tensor& bias, const Tensor& mean,
                       const Tensor& rstd,
                       const BatchNormAttributes& attributes);

}  // namespace hotaru
