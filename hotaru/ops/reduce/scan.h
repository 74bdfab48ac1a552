// Running sums, products and extremes along a dimension.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Integers and bool give int64; `dtype` converts before summing.
Tensor cumsum(const Tensor& self, int64_t dim, Optional<DType> dtype = {});
Tensor cumprod(const Tensor& self, int64_t dim, Optional<DType> dtype = {});
Tensor logcumsumexp(const Tensor& self, int64_t dim);
/// In place; the result is converted to self's dtype.
Tensor cumsum_(const Tensor& self, int64_t dim, Optional<DType> dtype = {});
Tensor cumprod_(const Tensor& self, int64_t dim, Optional<DType> dtype = {});
/// Values and int64 indices of the largest (smallest) so far, the last one
/// among equals; NaN wins.
std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim);
std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim);
/// Differences of neighbours, n times, after attaching what stands before and
/// behind.
Tensor diff(const Tensor& self, int64_t n = 1, int64_t dim = -1,
            const Tensor& prepend = {}, const Tensor& append = {});

}  // namespace hotaru
