// Sorting and selecting along a dimension. NaN is larger than every number.
// Indices are int64; the gradient goes to the elements that were chosen.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

using ValuesAndIndices = std::tuple<Tensor, Tensor>;

/// Equal elements always keep their order.
ValuesAndIndices sort(const Tensor& self, int64_t dim = -1,
                      bool descending = false);
Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false);
/// The k largest (smallest) elements, in order unless `sorted` is false.
ValuesAndIndices topk(const Tensor& self, int64_t k, int64_t dim = -1,
                      bool largest = true, bool sorted = true);
/// The k-th smallest element, counted from one.
ValuesAndIndices kthvalue(const Tensor& self, int64_t k, int64_t dim = -1,
                          bool keepdim = false);
/// The lower of the two middle elements; NaN if there is any, or without the
/// NaNs.
Tensor median(const Tensor& self);
ValuesAndIndices median(const Tensor& self, int64_t dim, bool keepdim = false);
Tensor nanmedian(const Tensor& self);
ValuesAndIndices nanmedian(const Tensor& self, int64_t dim,
                           bool keepdim = false);
/// The most frequent element, the smallest of several.
ValuesAndIndices mode(const Tensor& self, int64_t dim = -1,
                      bool keepdim = false);

}  // namespace hotaru
