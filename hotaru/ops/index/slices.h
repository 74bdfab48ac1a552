// Reading and writing whole slices at a vector of indices (int64 or int32)
// along one dimension. An index out of range is an error, found when the
// kernel runs, before anything is written.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Slice i of the result is slice index[i] of self.
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
/// Slice index[i] of self += alpha * slice i of source.
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index,
                 const Tensor& source, const Scalar& alpha = 1);
Tensor index_add_(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& source, const Scalar& alpha = 1);
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& source);
Tensor index_copy_(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& source);
/// Negative indices count from the end. The tensor form takes a scalar tensor.
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index,
                  const Scalar& value);
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& value);
Tensor index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                   const Scalar& value);
Tensor index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& value);

/// Rows of weight [n, d] at indices of any shape: [..., d]. Rows at
/// padding_idx receive no gradient.
Tensor embedding(const Tensor& weight, const Tensor& indices,
                 int64_t padding_idx = -1, bool scale_grad_by_freq = false,
                 bool sparse = false);
Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices,
                                int64_t num_weights, int64_t padding_idx,
                                bool scale_grad_by_freq);
/// Scales the rows of weight that indices name down to the norm, in place and
/// without gradient. Waits for the indices.
Tensor embedding_renorm_(const Tensor& weight, const Tensor& indices,
                         double max_norm, double norm_type);
/// Each slice `repeats` times in a row; without dim of the flattened self.
Tensor repeat_interleave(const Tensor& self, int64_t repeats,
                         Optional<int64_t> dim = {});
/// Slice i repeats[i] times. Waits for `repeats`, as the shape depends on it.
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                         Optional<int64_t> dim = {});
/// Classes as rows of zeros and a one, int64: [...] -> [..., num_classes].
/// num_classes -1: the largest class plus one. Waits for the classes.
Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

}  // namespace hotaru
