// Sets of values: distinct ones, positions in sorted rows.
#pragma once

#include <tuple>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// The distinct elements in ascending order, [n]; where each element of self
/// is among them (int64, self's shape) and how often each occurs, or empty
/// tensors. Waits for self.
std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& self,
                                          bool return_inverse = false,
                                          bool return_counts = false);
/// The same for runs of equal neighbours, of elements in row-major order or of
/// slices along a dimension.
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(
    const Tensor& self, bool return_inverse = false, bool return_counts = false,
    Optional<int64_t> dim = {});
/// Distinct slices along a dimension, sorted lexicographically.
std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim,
                                              bool return_inverse = false,
                                              bool return_counts = false);

/// Where values would be inserted into sorted boundaries: rows of boundaries
/// [..., n] for rows of values [..., m], or one row for values of any shape.
/// `sorter` gives the order if the boundaries are not sorted.
Tensor searchsorted(const Tensor& boundaries, const Tensor& values,
                    bool out_int32 = false, bool right = false,
                    const Tensor& sorter = {});
/// Which elements occur in the other tensor.
Tensor isin(const Tensor& elements, const Tensor& test_elements,
            bool invert = false);

}  // namespace hotaru
