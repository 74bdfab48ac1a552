// Triangles and diagonals of matrices.
#pragma once

#include "hotaru/ops/boxing.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru {

/// Elements on and below (above) a diagonal of [..., n, m]; zero elsewhere.
Tensor tril(const Tensor& self, int64_t diagonal = 0);
Tensor triu(const Tensor& self, int64_t diagonal = 0);
Tensor tril_(const Tensor& self, int64_t diagonal = 0);
Tensor triu_(const Tensor& self, int64_t diagonal = 0);
/// Their coordinates in row-major order, [2, n].
Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset = 0,
                    TensorOptions options = DType::kInt64);
Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset = 0,
                    TensorOptions options = DType::kInt64);
/// The diagonal of a matrix as a copy, or a matrix with a vector on it.
Tensor diag(const Tensor& self, int64_t diagonal = 0);
/// self's last dimension on the diagonal of two new ones.
Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2,
                  int64_t dim2 = -1);
/// All elements on the diagonal of one matrix.
Tensor diagflat(const Tensor& self, int64_t offset = 0);

}  // namespace hotaru
