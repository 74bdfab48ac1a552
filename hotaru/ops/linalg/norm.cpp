// Norms of matrices and what is measured with them.
#include <cmath>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/reduce/reduce.h"

namespace hotaru {
namespace {

constexpr const char* kOp = "linalg.matrix_norm";

/// The two dimensions, wrapped.
Dims matrix_dims(const Tensor& A, IntSpan dims, bool low_precision) {
  check_batch(kOp, A);
  HOTARU_CHECK(low_precision || itemsize(A.dtype()) > 2, kOp,
               ": Low precision dtypes not supported. Got ",
               scalar_type_name(A.dtype()));
  HOTARU_CHECK(is_differentiable(A.dtype()), kOp,
               ": Expected a floating point or complex tensor as input. Got ",
               scalar_type_name(A.dtype()));
  std::string listed;
  for (int64_t d : dims) listed += " " + std::to_string(d);
  HOTARU_CHECK(dims.size() == 2, kOp, ": dim must be a 2-tuple. Got", listed);
  const Dims out{wrap_dim(dims[0], A.dim()), wrap_dim(dims[1], A.dim())};
  HOTARU_CHECK(out[0] != out[1], kOp, ": dims must be different. Got (", out[0],
               ", ", out[1], ")");
  return out;
}

Tensor singular_values(const Tensor& A, IntSpan dims, Optional<DType> dtype) {
  return linalg_svdvals(movedim(dtype ? to(A, *dtype) : A, dims, Dims{-2, -1}));
}

/// The last dimension's two, if kept, back in their places.
Tensor put_back(const Tensor& t, IntSpan dims, bool keepdim) {
  if (!keepdim) return t;
  return unsqueeze(unsqueeze(t, std::min(dims[0], dims[1])),
                   std::max(dims[0], dims[1]));
}

/// The norm times that of the inverse; infinity for singular matrices.
template <class Order>
Tensor cond_by_inverse(const Tensor& A, const Order& order) {
  check_square(concat("linalg.cond(ord=", order, ")").c_str(), A);
  const Dims dims{-2, -1};
  const auto [inverse, info] = linalg_inv_ex(A);
  const Tensor singular = gt(info, 0);
  const Tensor finite = masked_fill(inverse, per_matrix(singular), 0);
  const Tensor out = linalg_matrix_norm(A, order, dims, false, {}) *
                     linalg_matrix_norm(finite, order, dims, false, {});
  return masked_fill(out, singular, std::numeric_limits<double>::infinity());
}

/// Returns 0, for matrices without elements.
Tensor cond_of_nothing(const Tensor& A) {
  return zeros(batch_of(A), {to_real(A.dtype()), A.device()});
}

Tensor cond(const Tensor& A, const Optional<Scalar>& p) {
  check_matrix("linalg.cond", A, false);
  const double order = p ? p->to_double() : 2;
  HOTARU_CHECK(
      std::abs(order) == 1 || std::abs(order) == 2 || std::isinf(order),
      "linalg.cond got an invalid norm type: ", order);
  if (A.numel() == 0) return cond_of_nothing(A);
  if (std::abs(order) != 2) return cond_by_inverse(A, *p);
  const Tensor S = linalg_svdvals(A);
  const Tensor largest = narrow(S, -1, 0, 1);
  const Tensor least = narrow(S, -1, S.size(-1) - 1, 1);
  return squeeze(order > 0 ? largest / least : least / largest, -1);
}

Tensor cond_by_name(const Tensor& A, const std::string& p) {
  check_matrix("linalg.cond", A, false);
  check_square(concat("linalg.cond(ord=", p, ")").c_str(), A);
  HOTARU_CHECK(p == "fro" || p == "nuc",
               "linalg.cond got an invalid norm type: ", p);
  return A.numel() == 0 ? cond_of_nothing(A) : cond_by_inverse(A, p);
}

/// PyTorch's words for dimensions that no norm has.
void check_norm_dims(const Tensor& A, const Optional<IntSpan>& dims,
                     bool ordered) {
  HOTARU_CHECK(!dims || dims->size() == 1 || dims->size() == 2,
               "linalg.norm: If dim is specified, it must be of length 1 or 2. "
               "Got ",
               shape_text(dims.value_or(IntSpan())));
  HOTARU_CHECK(dims || !ordered || A.dim() == 1 || A.dim() == 2,
               "linalg.norm: If dim is not specified but ord is, the input "
               "must be 1D or 2D. Got ",
               A.dim(), "D.");
}

Tensor norm_by_name(const Tensor& A, const std::string& order,
                    Optional<IntSpan> dims, bool keepdim,
                    Optional<DType> dtype) {
  check_norm_dims(A, dims, true);
  const Dims whole{-2, -1};
  return linalg_matrix_norm(A, order, dims.value_or(whole), keepdim, dtype);
}

/// The largest of numbers that are not negative: of none it is 0.
Tensor largest(const Tensor& x, IntSpan dims, bool keepdim = false) {
  const bool none = x.size(dims[0]) == 0;
  return none ? sum(x, dims, keepdim) : amax(x, dims, keepdim);
}

}  // namespace

Tensor linalg_matrix_norm(const Tensor& A, const Scalar& order, IntSpan over,
                          bool keepdim, Optional<DType> dtype) {
  HOTARU_CHECK(!order.is_complex(), kOp,
               ": Expected a non-complex scalar as the order of norm.");
  const double p = order.to_double();
  const bool spectral = std::abs(p) == 2;
  Dims dims = matrix_dims(A, over, !spectral);
  HOTARU_CHECK(spectral || std::abs(p) == 1 || std::isinf(p), kOp, ": Order ",
               order, " not supported.");
  if (spectral) {
    const Tensor S = singular_values(A, dims, dtype);
    return put_back(p > 0 ? largest(S, Dims{-1}) : amin(S, Dims{-1}), dims,
                    keepdim);
  }
  if (std::isinf(p)) std::swap(dims[0], dims[1]);
  const Tensor sums = linalg_vector_norm(A, 1, Dims{dims[0]}, keepdim, dtype);
  if (!keepdim && dims[1] > dims[0]) --dims[1];
  const Dims rest{dims[1]};
  return p > 0 ? largest(sums, rest, keepdim) : amin(sums, rest, keepdim);
}

Tensor linalg_matrix_norm(const Tensor& A, const std::string& order,
                          IntSpan over, bool keepdim, Optional<DType> dtype) {
  HOTARU_CHECK(order == "fro" || order == "nuc", kOp, ": Order ", order,
               " not supported.");
  const Dims dims = matrix_dims(A, over, order == "fro");
  if (order == "fro") return linalg_vector_norm(A, 2, dims, keepdim, dtype);
  return put_back(sum(singular_values(A, dims, dtype), Dims{-1}), dims,
                  keepdim);
}

Tensor linalg_norm(const Tensor& A, Optional<Scalar> order,
                   Optional<IntSpan> dims, bool keepdim,
                   Optional<DType> dtype) {
  check_norm_dims(A, dims, order.has_value());
  const Dims whole{0, 1};
  if (order && (dims ? dims->size() == 2 : A.dim() == 2))
    return linalg_matrix_norm(A, *order, dims.value_or(whole), keepdim, dtype);
  return linalg_vector_norm(A, order.value_or(2), dims.value_or(IntSpan()),
                            keepdim, dtype);
}

HOTARU_OP(
    "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool "
    "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    +[](const Tensor& A, const Scalar& order, IntSpan dims, bool keepdim,
        Optional<DType> dtype) {
      return linalg_matrix_norm(A, order, dims, keepdim, dtype);
    });
HOTARU_OP(
    "linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, "
    "-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    +[](const Tensor& A, const std::string& order, IntSpan dims, bool keepdim,
        Optional<DType> dtype) {
      return linalg_matrix_norm(A, order, dims, keepdim, dtype);
    });
HOTARU_OP(
    "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool "
    "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    linalg_norm);
HOTARU_OP(
    "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool "
    "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    norm_by_name);
HOTARU_OP(
    "linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
    +[](const Tensor& A, Optional<Scalar> p) { return cond(A, p); });
HOTARU_OP("linalg_cond.p_str(Tensor self, str p) -> Tensor", cond_by_name);
HOTARU_OP(
    "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
    +[](const Tensor& self, bool keepdim) {
      return linalg_matrix_norm(self, std::string("nuc"), Dims{-2, -1}, keepdim,
                                {});
    });
HOTARU_OP(
    "nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
    +[](const Tensor& self, IntSpan dims, bool keepdim) {
      return linalg_matrix_norm(self, std::string("nuc"), dims, keepdim, {});
    });

}  // namespace hotaru
