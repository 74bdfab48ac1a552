// Parameters of the kernels of pairwise distances.
#pragma once

namespace hotaru {

/// Operands of "cdist", all row-major and of one dtype: write out [B, P, R],
/// read x1 [B, P, M], read x2 [B, R, M]; of "cdist_grad": write the gradient
/// of x1, read that of out, read x1, read x2, read out. Distances are norms of
/// order p: 0 counts differences, infinity takes the largest. Of "pdist": write
/// out [N (N - 1) / 2], read x [N, M].
struct CdistAttributes {
  double p = 2;
};

}  // namespace hotaru
