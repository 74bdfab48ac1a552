// Reading and writing single elements at indices along one dimension. An
// index has as many dimensions as self and is int64 or int32; only positions
// of the index are visited. An index out of range is an error, found when the
// kernel runs.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// out[i][j] = self[index[i][j]][j] for dim 0.
Tensor gather(const Tensor& self, int64_t dim, const Tensor& index,
              bool sparse_grad = false);
/// self[index[i][j]][j] = src[i][j] for dim 0; of equal indices one wins.
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& src);
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index,
               const Scalar& value);
Tensor scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                const Tensor& src);
Tensor scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                const Scalar& value);
/// Adds instead; equal indices add up in the order of the index.
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src);
Tensor scatter_add_(const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src);
/// reduce: "sum", "prod", "mean", "amax", "amin"; include_self: whether the
/// old values take part.
Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& src, const std::string& reduce,
                      bool include_self = true);
Tensor scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& src, const std::string& reduce,
                       bool include_self = true);
/// gather after broadcasting self and indices in the other dimensions; over
/// the flattened self without dim.
Tensor take_along_dim(const Tensor& self, const Tensor& indices,
                      Optional<int64_t> dim = {});

}  // namespace hotaru
