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
/// Distance of every row [..., P, M] to every row [..., R, M]: [..., P, R].
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);

}  // namespace hotaru
