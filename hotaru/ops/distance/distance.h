// Similarity and distance of vectors along a dimension.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// x1 . x2 / max(|x1| |x2|, eps), each norm at least eps. Inputs broadcast.
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1,
                         double eps = 1e-8);
/// Norm of order p of x1 - x2 + eps over the last dimension.
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2,
                         double eps = 1e-6, bool keepdim = false);
/// Distance of order p of every row [..., P, M] to every row [..., R, M]:
/// [..., P, R]. Of order 2 through a product, which is faster and less exact,
/// in mode 1, and in mode 0 (default) beyond 25 rows; in mode 2 never.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2,
             Optional<int64_t> compute_mode = {});
/// The gradient by row-major x1 [B, P, M] from that of the distances [B, P, R]:
/// row by row, without a product.
Tensor cdist_gradient(const Tensor& g, const Tensor& x1, const Tensor& x2,
                      const Tensor& distances, double p);

}  // namespace hotaru
