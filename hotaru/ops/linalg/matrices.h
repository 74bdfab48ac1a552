// Helpers shared by operators on matrices and batches of them, [..., m, n].
#pragma once

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/linalg/linalg.h"
#include "hotaru/ops/boxing.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {

/// The checks throw PyTorch's texts; `op` is "linalg.inv" and the like, `name`
/// that of the argument.
void check_batch(const char* op, const Tensor& A, const char* name = "A");
void check_square(const char* op, const Tensor& A, const char* name = "A");
/// Throws unless elements are floating or complex; the kernels say which.
void check_linalg_dtype(const char* op, const Tensor& A);
/// Matrices (square ones) of such a dtype.
void check_matrix(const char* op, const Tensor& A, bool square,
                  const char* name = "A");
/// A X = B, or X A = B unless left: shapes and dtypes.
void check_system(const char* op, const Tensor& A, const Tensor& B, bool left);

IntSpan batch_of(const Tensor& t);
/// A shape: batch, then the rest.
Dims with(IntSpan batch, std::initializer_list<int64_t> rest);
/// Sizes and number of A's matrices; whether the kernel throws, and as whom.
LinalgAttributes linalg_attributes(const Tensor& A, const char* name = "",
                                   bool check = false);
/// Uninitialised, on A's device.
Tensor matrices_like(const Tensor& A, std::initializer_list<int64_t> sizes,
                     Optional<DType> dtype = {});
/// Both expanded to a common batch.
std::pair<Tensor, Tensor> same_batch(const Tensor& A, const Tensor& B);

Tensor transposed(const Tensor& t);
Tensor adjoint(const Tensor& t);
/// One number for each matrix, to multiply the matrix by.
Tensor per_matrix(const Tensor& t);
/// One number for each column.
inline Tensor per_column(const Tensor& t) {
  return unsqueeze(t, -2);
}
inline Tensor per_row(const Tensor& t) {
  return unsqueeze(t, -1);
}
/// The n x n unit matrix, of A's dtype or another.
Tensor unit_matrix(const Tensor& A, int64_t n, Optional<DType> dtype = {});
/// Rows or columns from `start` on.
Tensor rows(const Tensor& t, int64_t start, int64_t count);
Tensor columns(const Tensor& t, int64_t start, int64_t count);

}  // namespace hotaru
