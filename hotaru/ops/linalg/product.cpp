// Products of matrices, powers and functions of one, and of vectors.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

Tensor matrix_power(const Tensor& self, int64_t n) {
  // There are only products, which every dtype has; or inv() checks the rest.
  check_batch("linalg.matrix_power", self);
  check_square("linalg.matrix_power", self);
  const auto inverse = [](const Tensor& a) {
    return autocast::active() ? autocast::by_name("linalg_inv", "", {a})
                              : linalg_inv(a);
  };
  const Tensor base = n < 0 ? inverse(self) : self;
  const auto product = [](const Tensor& a, const Tensor& b) {
    return matmul(autocast::lowered(a), autocast::lowered(b));
  };
  Tensor out, square = base;
  for (uint64_t left = n < 0 ? -uint64_t(n) : uint64_t(n); left; left >>= 1) {
    if (left & 1) out = out.defined() ? product(out, square) : square;
    if (left > 1) square = product(square, square);
  }
  if (out.defined()) return out.is_same(self) ? clone(self) : out;
  const Tensor unit = without_base(
      contiguous(expand(unit_matrix(self, self.size(-1)), self.sizes())));
  if (autograd::needs_grad(self))
    grads::zero("MatrixPowerBackward0", unit, self);
  return unit;
}

/// Where to part each chain of matrices i to j so that their product costs
/// least (A. Godbole, On efficient computation of matrix chain products, 1973).
class Chain {
 public:
  explicit Chain(const Tensors& matrices)
      : matrices_(matrices), count_(matrices.size()), part_(count_ * count_) {
    std::vector<double> cost(count_ * count_);
    const auto size = [&](size_t i) {
      return double(i < count_ ? matrices[i].size(0) : matrices.back().size(1));
    };
    for (size_t length = 1; length < count_; ++length)
      for (size_t i = 0; i + length < count_; ++i) {
        const size_t j = i + length;
        double& least = cost[i * count_ + j];
        least = std::numeric_limits<double>::infinity();
        for (size_t k = i; k < j; ++k) {
          const double all = cost[i * count_ + k] + cost[(k + 1) * count_ + j] +
                             size(i) * size(k + 1) * size(j + 1);
          if (!(all < least)) continue;
          least = all;
          part_[i * count_ + j] = k;
        }
      }
  }
  Tensor product() const { return product(0, count_ - 1); }

 private:
  Tensor product(size_t i, size_t j) const {
    if (i == j) return matrices_[i];
    const size_t k = part_[i * count_ + j];
    return mm(autocast::lowered(product(i, k)),
              autocast::lowered(product(k + 1, j)));
  }

  const Tensors& matrices_;
  size_t count_;
  std::vector<size_t> part_;
};

Tensor multi_dot(const Tensors& given) {
  const size_t n = given.size();
  HOTARU_CHECK(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  Tensors all = given;
  HOTARU_CHECK(all[0].dim() == 1 || all[0].dim() == 2,
               "multi_dot(): the first tensor must be 1D or 2D but got ",
               all[0].dim(), "D");
  HOTARU_CHECK(all[n - 1].dim() == 1 || all[n - 1].dim() == 2,
               "multi_dot(): the last tensor must be 1D or 2D but got ",
               all[n - 1].dim(), "D");
  Dims sizes;
  if (all[0].dim() == 1)
    all[0] = unsqueeze(all[0], 0);
  else
    sizes.push_back(all[0].size(0));
  if (all[n - 1].dim() == 1)
    all[n - 1] = unsqueeze(all[n - 1], -1);
  else
    sizes.push_back(all[n - 1].size(1));
  for (size_t i = 0; i < n; ++i) {
    HOTARU_CHECK(all[i].dim() == 2, "multi_dot(): tensor ", i,
                 " must be 2D but got ", all[i].dim(), "D");
    HOTARU_CHECK(all[i].dtype() == all[0].dtype(),
                 "multi_dot(): all tensors must have be the same dtype but "
                 "tensor 0 is ",
                 scalar_type_name(all[0].dtype()), " and tensor ", i, " ",
                 scalar_type_name(all[i].dtype()));
    HOTARU_CHECK(i == 0 || all[i - 1].size(1) == all[i].size(0),
                 "multi_dot(): tensors ", i - 1, " and ", i, " with shapes ",
                 shape_text(all[i - 1].sizes()), " and ",
                 shape_text(all[i].sizes()), " cannot be multiplied");
  }
  return reshape(Chain(all).product(), sizes);
}

Tensor chain_matmul(const Tensors& matrices) {
  static constinit OnceWarning deprecated{
      "torch.chain_matmul is deprecated and will be removed in a future "
      "PyTorch release. Use torch.linalg.multi_dot instead, which accepts a "
      "list of two or more tensors rather than multiple parameters."};
  deprecated.give();
  for (size_t i = 0; i < matrices.size(); ++i)
    HOTARU_CHECK(matrices[i].dim() == 2, "Tensor dimension is ",
                 matrices[i].dim(), ", expected 2 instead.");
  HOTARU_CHECK(!matrices.empty(),
               "chain_matmul(): Expected one or more matrices");
  return matrices.size() == 1 ? matrices[0] : Chain(matrices).product();
}

Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  HOTARU_CHECK(is_differentiable(x.dtype()),
               "linalg.vecdot: Expected a floating point or complex tensor as "
               "input. Got ",
               scalar_type_name(x.dtype()));
  HOTARU_CHECK(x.dtype() == y.dtype(),
               "linalg.vecdot: Expected x and y to have the same dtype, but "
               "found x of type ",
               scalar_type_name(x.dtype()), " and y of type ",
               scalar_type_name(y.dtype()), " instead");
  return sum(conj(x) * y, Dims{dim});
}

Tensor vander(const Tensor& x, Optional<int64_t> count) {
  HOTARU_CHECK(x.dtype() != DType::kBool,
               "linalg.vander supports floating point, complex, and integer "
               "tensors, but got Bool");
  const Tensor rows = x.dim() == 0 ? unsqueeze(x, -1) : x;
  const int64_t n = count.value_or(rows.size(-1));
  HOTARU_CHECK(n > 1, "N must be greater than 1.");
  Dims sizes(rows.sizes());
  sizes.push_back(n - 1);
  const Tensor powers = cumprod(expand(unsqueeze(rows, -1), sizes), -1);
  sizes.back() = 1;
  return cat({ones(sizes, TensorOptions(powers)), powers}, -1);
}

}  // namespace

Tensor linalg_matrix_exp(const Tensor& A) {
  static const Kernel& exponential = kernel("linalg_matrix_exp");
  check_batch("linalg.matrix_exp", A);
  HOTARU_CHECK(is_differentiable(A.dtype()),
               "linalg.matrix_exp: Expected a floating point or complex tensor "
               "as input. Got ",
               scalar_type_name(A.dtype()));
  check_square("linalg.matrix_exp", A);
  if (itemsize(A.dtype()) == 2)
    return to(linalg_matrix_exp(to(A, DType::kFloat32)), A.dtype());
  const Tensor out = allocate(A.sizes(), A.dtype(), A.device());
  {
    autograd::NoGrad guard;
    const Tensor a = contiguous(A);
    enqueue(exponential, {write(out), read(a)}, linalg_attributes(A));
  }
  record_matrix_exp(out, A);
  return out;
}

HOTARU_OP("matrix_power(Tensor self, int n) -> Tensor", matrix_power);
HOTARU_OP("linalg_matrix_power(Tensor self, int n) -> Tensor", matrix_power);
HOTARU_OP("matrix_exp(Tensor self) -> Tensor", linalg_matrix_exp);
HOTARU_OP("linalg_matrix_exp(Tensor self) -> Tensor", linalg_matrix_exp);
HOTARU_OP("linalg_matmul(Tensor self, Tensor other) -> Tensor", matmul);
HOTARU_OP("linalg_multi_dot(Tensor[] tensors) -> Tensor", multi_dot);
HOTARU_OP("chain_matmul(Tensor[] matrices) -> Tensor", chain_matmul);
HOTARU_OP("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", vecdot);
HOTARU_OP("linalg_vander(Tensor x, *, int? N=None) -> Tensor", vander);
HOTARU_OP(
    "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) "
    "-> Tensor(a)",
    +[](const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
      return diagonal(A, offset, dim1, dim2);
    });

}  // namespace hotaru
