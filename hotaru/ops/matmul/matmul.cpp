#include "hotaru/ops/matmul/matmul.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/matmul/matmul.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/matmul/matmul_grad.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

// A tensor seen as a batch of matrices.
struct Matrix {
  const Tensor& tensor;
  int64_t batch, rows, columns;
  MatrixStrides strides;

  Matrix transposed() const {
    return {tensor,
            batch,
            columns,
            rows,
            {strides.batch, strides.column, strides.row}};
  }
};

Matrix matrix(const Tensor& t) {
  return {t, 1, t.size(0), t.size(1), {0, t.stride(0), t.stride(1)}};
}
Matrix batch(const Tensor& t) {
  return {t,
          t.size(0),
          t.size(1),
          t.size(2),
          {t.stride(0), t.stride(1), t.stride(2)}};
}
Matrix column(const Tensor& t) {
  return {t, 1, t.size(0), 1, {0, t.stride(0), 0}};
}
Matrix row(const Tensor& t) {
  return column(t).transposed();
}

// Strides under which `bias` looks like a batch of m x n matrices.
MatrixStrides bias_strides(const Tensor& bias, IntSpan target) {
  const size_t dim = size_t(bias.dim());
  HOTARU_CHECK(dim <= target.size(), "expand(torch.",
               scalar_type_name(bias.dtype()), "Tensor{",
               shape_text(bias.sizes()), "}, size=", shape_text(target),
               "): the number of sizes provided (", target.size(),
               ") must be greater or equal to the number of dimensions in the "
               "tensor (",
               dim, ")");
  for (size_t i = dim; i-- > 0;) {
    const size_t at = target.size() - dim + i;
    const int64_t have = bias.sizes()[i];
    HOTARU_CHECK(have == target[at] || have == 1,
                 "The expanded size of the tensor (", target[at],
                 ") must match the existing size (", have,
                 ") at non-singleton dimension ", at,
                 ".  Target sizes: ", shape_text(target),
                 ".  Tensor sizes: ", shape_text(bias.sizes()));
  }
  const Dims s = broadcast_strides(bias.sizes(), bias.strides(), target);
  const size_t n = s.size();
  return {n > 2 ? s[0] : 0, n > 1 ? s[n - 2] : 0, s[n - 1]};
}

void run(const Tensor& out, const Matrix& a, const Matrix& b,
         const Tensor& bias, const MatrixStrides& bias_at, const Scalar& beta,
         const Scalar& alpha) {
  static const Kernel& matmul_kernel = kernel("matmul");
  if (out.numel() == 0) return;
  const MatmulAttributes attributes{
      a.batch,   a.rows,  b.columns, a.columns, a.strides,
      b.strides, bias_at, alpha,     beta,      allows_bf16(Bf16::kMatmul)};
  enqueue(matmul_kernel,
          {write(out), read(a.tensor), read(b.tensor), read(bias)}, attributes);
}

Tensor product(const Matrix& a, const Matrix& b, IntSpan size) {
  const Tensor out = allocate_result(size, a.tensor.dtype(), a.tensor.device());
  run(out, a, b, {}, {}, 0, 1);
  return out;
}

void check_inner(const Matrix& a, const Matrix& b) {
  HOTARU_CHECK(a.columns == b.rows,
               "mat1 and mat2 shapes cannot be multiplied "
               "(",
               a.rows, "x", a.columns, " and ", b.rows, "x", b.columns, ")");
  HOTARU_CHECK(a.tensor.dtype() == b.tensor.dtype(),
               "expected m1 and m2 to have the same dtype, but got: ",
               cpp_type_name(a.tensor.dtype()),
               " != ", cpp_type_name(b.tensor.dtype()));
}

void check_bias_dtype(const Tensor& self, const Tensor& other) {
  HOTARU_CHECK(self.dtype() == other.dtype(),
               "self and mat2 must have the same dtype, but got ",
               scalar_type_name(self.dtype()), " and ",
               scalar_type_name(other.dtype()));
}

// This family's names for its kernels in PyTorch's message.
void check_not_bool(const char* name, const Tensor& t) {
  HOTARU_CHECK_AS(NotImplementedError, t.dtype() != DType::kBool, "\"", name,
                  "\" not implemented for 'Bool'");
}

void check_batches(const Tensor& a, const Tensor& b) {
  HOTARU_CHECK(a.dim() == 3, "batch1 must be a 3D tensor");
  HOTARU_CHECK(b.dim() == 3, "batch2 must be a 3D tensor");
  HOTARU_CHECK(b.size(0) == a.size(0) && b.size(1) == a.size(2),
               "Expected size for first two dimensions of batch2 tensor to "
               "be: [",
               a.size(0), ", ", a.size(2), "] but got: [", b.size(0), ", ",
               b.size(1), "].");
  check_operand(a.dtype(), b.dtype());
  check_not_bool("bmm", a);
}

void check_numbers(const Tensor& out, const Scalar& beta, const Scalar& alpha) {
  if (out.numel() == 0) return;  // as run()
  check_holds(out.dtype(), beta);
  check_holds(out.dtype(), alpha);
}

void check_vector(const Tensor& self, int64_t self_size, const Tensor& mat,
                  const Tensor& vec) {
  HOTARU_CHECK(
      mat.dim() == 2 && vec.dim() == 1 && (!self.defined() || self.dim() <= 1),
      "vector + matrix @ vector expected, got ",
      self.defined() ? self.dim() : 1, ", ", mat.dim(), ", ", vec.dim());
  HOTARU_CHECK(mat.size(1) == vec.size(0) &&
                   (self_size == mat.size(0) || self_size == 1),
               "size mismatch, got input (", self_size, "), mat (", mat.size(0),
               "x", mat.size(1), "), vec (", vec.size(0), ")");
  const DType first = self.defined() ? self.dtype() : vec.dtype();
  HOTARU_CHECK(first == mat.dtype() && mat.dtype() == vec.dtype(),
               "addmv input tensors must have the same dtype, but got ",
               scalar_type_name(first), ", ", scalar_type_name(mat.dtype()),
               ", and ", scalar_type_name(vec.dtype()));
  check_not_bool("addmv_impl_cpu", mat);
}

// The result of an in-place variant, computed beside self and copied over:
// self may be read by the product itself.
void overwrite(const Tensor& self, const Tensor& result) {
  HOTARU_CHECK(same(self.sizes(), result.sizes()),
               "Bad in-place call: input "
               "tensor size ",
               shape_text(self.sizes()), " and output tensor size ",
               shape_text(result.sizes()), " should match");
  autograd::NoGrad guard;
  copy_(untracked(self), result);
}

Tensor addmm_value(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                   const Scalar& beta, const Scalar& alpha) {
  HOTARU_CHECK(mat1.dim() == 2, "mat1 must be a matrix, got ", mat1.dim(),
               "-D tensor");
  HOTARU_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(),
               "-D tensor");
  const Matrix a = matrix(mat1), b = matrix(mat2);
  check_inner(a, b);
  check_bias_dtype(self, mat2);
  const Dims size{a.rows, b.columns};
  const MatrixStrides bias = bias_strides(self, size);
  const Tensor out = allocate_result(size, mat1.dtype(), mat1.device());
  check_numbers(out, beta, alpha);
  run(out, a, b, self, bias, beta, alpha);
  return out;
}

Tensor addmv_value(const Tensor& self, const Tensor& mat, const Tensor& vec,
                   const Scalar& beta, const Scalar& alpha) {
  check_vector(self, self.numel(), mat, vec);
  const Dims size{mat.size(0)};
  const MatrixStrides s = bias_strides(self, size);
  const Tensor out = allocate_result(size, mat.dtype(), mat.device());
  check_bound(out.dtype(), beta);
  if (out.numel() > 0) check_bound(out.dtype(), alpha);
  run(out, matrix(mat), column(vec), self, {0, s.column, 0}, beta, alpha);
  return out;
}

Tensor baddbmm_value(const Tensor& self, const Tensor& batch1,
                     const Tensor& batch2, const Scalar& beta,
                     const Scalar& alpha) {
  const Dims size{batch1.size(0), batch1.size(1), batch2.size(2)};
  const MatrixStrides bias = bias_strides(self, size);
  check_not_bool("baddbmm", batch1);
  HOTARU_CHECK(self.dtype() == batch1.dtype() && self.dtype() == batch2.dtype(),
               "Input dtypes must be the same, got: input ",
               cpp_type_name(self.dtype()),
               ", batch1: ", cpp_type_name(batch1.dtype()),
               ", batch2: ", cpp_type_name(batch2.dtype()));
  check_batches(batch1, batch2);
  const Tensor out = allocate_result(size, batch1.dtype(), batch1.device());
  check_numbers(out, beta, alpha);
  run(out, batch(batch1), batch(batch2), self, bias, beta, alpha);
  return out;
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
  HOTARU_CHECK(self.dim() == 2, "self must be a matrix");
  HOTARU_CHECK(mat2.dim() == 2, "mat2 must be a matrix");
  const Matrix a = matrix(self), b = matrix(mat2);
  check_inner(a, b);
  const Tensor out = product(a, b, Dims{a.rows, b.columns});
  record_mm(out, self, mat2);
  return out;
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  check_batches(self, mat2);
  const Tensor out = product(batch(self), batch(mat2),
                             Dims{self.size(0), self.size(1), mat2.size(2)});
  record_bmm(out, self, mat2);
  return out;
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  check_vector({}, self.dim() > 0 ? self.size(0) : 1, self, vec);
  const Tensor out = product(matrix(self), column(vec), Dims{self.size(0)});
  record_mv(out, self, vec);
  return out;
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  HOTARU_CHECK(self.dim() == 1 && tensor.dim() == 1,
               "1D tensors expected, but got ", self.dim(), "D and ",
               tensor.dim(), "D tensors");
  HOTARU_CHECK(self.dtype() == tensor.dtype(),
               "dot : expected both vectors to have same dtype, but found ",
               scalar_type_name(self.dtype()), " and ",
               scalar_type_name(tensor.dtype()));
  HOTARU_CHECK(self.numel() == tensor.numel(),
               "inconsistent tensor size, expected tensor [", self.numel(),
               "] and src [", tensor.numel(),
               "] to have the same number of elements, but got ", self.numel(),
               " and ", tensor.numel(), " elements respectively");
  check_not_bool("dot", self);
  const Tensor out = product(row(self), column(tensor), Dims{});
  record_dot(out, self, tensor);
  return out;
}

Tensor vdot(const Tensor& self, const Tensor& other) {
  return dot(conj(self), other);
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  HOTARU_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ",
               self.dim(), "-D");
  HOTARU_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ",
               vec2.dim(), "-D");
  return mul(unsqueeze(self, 1), vec2);
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
             const Scalar& beta, const Scalar& alpha) {
  const Tensor out = addmm_value(self, mat1, mat2, beta, alpha);
  record_addmm("AddmmBackward0", out, self, mat1, mat2, beta, alpha);
  return out;
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec,
             const Scalar& beta, const Scalar& alpha) {
  const Tensor out = addmv_value(self, mat, vec, beta, alpha);
  record_addmv(out, self, mat, vec, beta, alpha);
  return out;
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
               const Scalar& beta, const Scalar& alpha) {
  const Tensor out = baddbmm_value(self, batch1, batch2, beta, alpha);
  record_addmm("BaddbmmBackward0", out, self, batch1, batch2, beta, alpha);
  return out;
}

Tensor addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
              const Scalar& beta, const Scalar& alpha) {
  autograd::check_inplace(self, mat1, mat2);
  overwrite(self, addmm_value(self, mat1, mat2, beta, alpha));
  record_addmm("AddmmBackward0", self, self, mat1, mat2, beta, alpha);
  self.bump_version();
  return self;
}

Tensor addmv_(const Tensor& self, const Tensor& mat, const Tensor& vec,
              const Scalar& beta, const Scalar& alpha) {
  autograd::check_inplace(self, mat, vec);
  overwrite(self, addmv_value(self, mat, vec, beta, alpha));
  record_addmv(self, self, mat, vec, beta, alpha);
  self.bump_version();
  return self;
}

Tensor baddbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                const Scalar& beta, const Scalar& alpha) {
  autograd::check_inplace(self, batch1, batch2);
  overwrite(self, baddbmm_value(self, batch1, batch2, beta, alpha));
  record_addmm("BaddbmmBackward0", self, self, batch1, batch2, beta, alpha);
  self.bump_version();
  return self;
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  HOTARU_CHECK(input.dim() > 0 && weight.dim() > 0,
               "both arguments to linear need to be at least 1D, but they are ",
               input.dim(), "D and ", weight.dim(), "D");
  if (weight.dim() == 1 && !bias.defined()) return matmul(input, weight);
  // A bias that is no row is added to the product, whose shape stays.
  const bool row_bias =
      bias.defined() &&
      (bias.dim() == 1 || (bias.dim() == 2 && bias.size(0) == 1));
  if (bias.defined() && !row_bias && input.dim() != 2)
    return add_(matmul(input, t(weight)), bias);
  if (input.dim() == 2 || autograd::needs_grad(input, weight, bias) ||
      input.dim() == 0 || !input.is_contiguous() || weight.dim() != 2) {
    const Tensor transposed = t(weight);
    if (!bias.defined()) return matmul(input, transposed);
    if (input.dim() == 2) return addmm(bias, input, transposed);
    if (input.dim() == 1 && weight.dim() == 2 && bias.dim() == 1 &&
        bias.size(0) == weight.size(0))
      return add(matmul(input, transposed), bias);
    Dims size(input.sizes());
    const int64_t rows = numel_of(input.sizes().first(size.size() - 1));
    const Tensor flat = reshape(input, Dims{rows, size.back()});
    size.back() = weight.size(0);
    return view(addmm(bias, flat, transposed), size);
  }
  // Without a gradient, any number of leading dimensions is one product.
  const int64_t k = input.size(-1);
  const int64_t rows = numel_of(input.sizes().first(input.sizes().size() - 1));
  const Matrix a{input, 1, rows, k, {0, k, 1}};
  const Matrix b = matrix(weight).transposed();
  check_inner(a, b);
  Dims size(input.sizes());
  size.back() = b.columns;
  MatrixStrides bias_at;
  if (bias.defined()) {
    check_bias_dtype(bias, weight);
    bias_at = bias_strides(bias, Dims{rows, b.columns});
  }
  const Tensor out = allocate_result(size, input.dtype(), input.device());
  run(out, a, b, bias, bias_at, bias.defined(), 1);
  return out;
}

HOTARU_OP("mm(Tensor self, Tensor mat2) -> Tensor", mm);
HOTARU_OP("bmm(Tensor self, Tensor mat2) -> Tensor", bmm);
HOTARU_OP("mv(Tensor self, Tensor vec) -> Tensor", mv);
HOTARU_OP("dot(Tensor self, Tensor tensor) -> Tensor", dot);
HOTARU_OP("vdot(Tensor self, Tensor other) -> Tensor", vdot);
HOTARU_OP("outer(Tensor self, Tensor vec2) -> Tensor", outer);
HOTARU_OP(
    "ger(Tensor self, Tensor vec2) -> Tensor",
    +[](const Tensor& self, const Tensor& vec2) {
      static constinit OnceWarning deprecated{
          "torch.ger is deprecated and will be removed in a future PyTorch "
          "release. Use torch.outer instead."};
      deprecated.give();
      return outer(self, vec2);
    });
HOTARU_OP(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor",
    addmm);
HOTARU_OP(
    "addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor(a!)",
    addmm_);
HOTARU_OP(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor",
    addmv);
HOTARU_OP(
    "addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor(a!)",
    addmv_);
HOTARU_OP(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor",
    baddbmm);
HOTARU_OP(
    "baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, "
    "Scalar beta=1, Scalar alpha=1) -> Tensor(a!)",
    baddbmm_);
HOTARU_OP("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
          linear);

}  // namespace hotaru
