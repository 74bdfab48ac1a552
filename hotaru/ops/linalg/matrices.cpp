#include "hotaru/ops/linalg/matrices.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru {

void check_batch(const char* op, const Tensor& A, const char* name) {
  HOTARU_CHECK(A.dim() >= 2, op, ": The input tensor ", name,
               " must have at least 2 dimensions.");
}

void check_square(const char* op, const Tensor& A, const char* name) {
  HOTARU_CHECK(A.size(-1) == A.size(-2), op, ": ", name,
               " must be batches of square matrices, but they are ", A.size(-2),
               " by ", A.size(-1), " matrices");
}

void check_linalg_dtype(const char* op, const Tensor& A) {
  HOTARU_CHECK(is_differentiable(A.dtype()), op,
               ": Expected a floating point or complex tensor as input. Got ",
               scalar_type_name(A.dtype()));
}

void check_matrix(const char* op, const Tensor& A, bool square,
                  const char* name) {
  check_batch(op, A, name);
  check_linalg_dtype(op, A);
  if (square) check_square(op, A, name);
}

void check_system(const char* op, const Tensor& A, const Tensor& B, bool left) {
  HOTARU_CHECK(
      A.dtype() == B.dtype(), op,
      ": Expected A and B to have the same dtype, but found A of type ",
      scalar_type_name(A.dtype()), " and B of type ",
      scalar_type_name(B.dtype()), " instead");
  check_batch(op, B, "B");
  HOTARU_CHECK(B.size(left ? -2 : -1) == A.size(-1), op,
               ": Incompatible shapes of A and B for the equation ",
               left ? "AX = B" : "XA = B", " (", A.size(-2), "x", A.size(-1),
               " and ", B.size(-2), "x", B.size(-1), ")");
}

IntSpan batch_of(const Tensor& t) {
  return t.sizes().first(size_t(t.dim() - 2));
}

Dims with(IntSpan batch, std::initializer_list<int64_t> rest) {
  Dims out(batch);
  for (int64_t s : rest) out.push_back(s);
  return out;
}

LinalgAttributes linalg_attributes(const Tensor& A, const char* name,
                                   bool check) {
  LinalgAttributes a;
  a.batch = numel_of(batch_of(A));
  a.m = A.size(-2);
  a.n = A.size(-1);
  a.k = std::min(a.m, a.n);
  a.batched = A.dim() > 2;
  a.name = name;
  a.check = check;
  return a;
}

Tensor matrices_like(const Tensor& A, std::initializer_list<int64_t> sizes,
                     Optional<DType> dtype) {
  return allocate(with(batch_of(A), sizes), dtype.value_or(A.dtype()),
                  A.device());
}

std::pair<Tensor, Tensor> same_batch(const Tensor& A, const Tensor& B) {
  const Dims batch = broadcast_shapes(batch_of(A), batch_of(B));
  return {expand(A, with(batch, {A.size(-2), A.size(-1)})),
          expand(B, with(batch, {B.size(-2), B.size(-1)}))};
}

Tensor transposed(const Tensor& t) {
  return transpose(t, -2, -1);
}

Tensor adjoint(const Tensor& t) {
  return conj(transposed(t));
}

Tensor per_matrix(const Tensor& t) {
  return unsqueeze(unsqueeze(t, -1), -1);
}

Tensor unit_matrix(const Tensor& A, int64_t n, Optional<DType> dtype) {
  return eye(n, n, {dtype.value_or(A.dtype()), A.device()});
}

Tensor rows(const Tensor& t, int64_t start, int64_t count) {
  return narrow(t, -2, start, count);
}

Tensor columns(const Tensor& t, int64_t start, int64_t count) {
  return narrow(t, -1, start, count);
}

}  // namespace hotaru
