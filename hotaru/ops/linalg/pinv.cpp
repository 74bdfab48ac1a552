// Pseudoinverses, ranks and least squares.
#include <cctype>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/linalg/linalg.h"
#include "hotaru/ops/linalg/linalg_grad.h"
#include "hotaru/ops/linalg/matrices.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

double precision(const Tensor& A) {
  const double eps = to_real(A.dtype()) == DType::kFloat64
                         ? std::numeric_limits<double>::epsilon()
                         : std::numeric_limits<float>::epsilon();
  return eps * double(std::max(A.size(-1), A.size(-2)));
}

void check_tolerance(const char* op, const char* name, const Tensor& A,
                     const Tensor& tolerance) {
  HOTARU_CHECK(!tolerance.is_complex(), op, ": ", name,
               " tensor of complex type is not supported. Got ",
               scalar_type_name(tolerance.dtype()));
}

struct Tolerance {
  Tensor atol, rtol;
};

/// Fills in what is left out: no absolute tolerance, and a relative one unless
/// there is an absolute one.
Tolerance tolerances(const char* op, const Tensor& A, const Tensor& atol,
                     const Tensor& rtol) {
  const TensorOptions real(to_real(A.dtype()), A.device());
  Tolerance out{atol, rtol};
  if (atol.defined()) check_tolerance(op, "atol", A, atol);
  if (rtol.defined()) check_tolerance(op, "rtol", A, rtol);
  if (!atol.defined()) out.atol = zeros({}, real);
  if (!rtol.defined()) {
    out.rtol = full({}, precision(A), real);
    if (atol.defined())
      out.rtol = where(gt(atol, 0), zeros({}, real), out.rtol);
  }
  return out;
}

Tensor number(const Tensor& A, Optional<double> value) {
  if (!value) return {};
  return full({}, *value, {to_real(A.dtype()), A.device()});
}

/// Which of the magnitudes count, [..., k].
Tensor counted(const Tensor& magnitudes, const Tolerance& t) {
  const Tensor largest = amax(magnitudes, Dims{-1}, true);
  return gt(magnitudes,
            maximum(unsqueeze(t.atol, -1), unsqueeze(t.rtol, -1) * largest));
}

/// 1 / x where it counts, else 0.
Tensor inverted(const Tensor& x, const Tensor& counts) {
  return where(counts, reciprocal(x), zeros_like(x));
}

Tensor matrix_rank(const Tensor& A, const Tensor& atol, const Tensor& rtol,
                   bool hermitian) {
  check_batch("torch.linalg.matrix_rank", A, "input");
  const Tolerance t = tolerances("torch.linalg.matrix_rank", A, atol, rtol);
  autograd::NoGrad guard;
  if (A.numel() == 0) return zeros(batch_of(A), {DType::kInt64, A.device()});
  const Tensor S = hermitian ? abs(linalg_eigvalsh(A)) : linalg_svdvals(A);
  return sum(counted(S, t), Dims{-1});
}

struct LeastSquares {
  Tensor solution, rank, singular_values;
};

/// By singular values; those up to rcond times the greatest count as zero.
LeastSquares least_squares(const Tensor& A, const Tensor& B, double rcond) {
  const auto [U, S, Vh] = linalg_svd(A, false);
  LeastSquares out;
  out.singular_values = S;
  const Tensor counts =
      S.size(-1) ? gt(S, amax(S, Dims{-1}, true) * Scalar(rcond)) : gt(S, 0);
  out.rank = sum(counts, Dims{-1});
  const Tensor along = matmul(adjoint(U), B);
  out.solution = matmul(adjoint(Vh), along * per_row(inverted(S, counts)));
  return out;
}

/// Without singular values, which most matrices do not need.
LeastSquares quick_least_squares(const char* op, const Tensor& A,
                                 const Tensor& B, double rcond) {
  static const Kernel& solve = kernel("linalg_least_squares");
  LinalgAttributes attrs = linalg_attributes(A, op);
  attrs.k = B.size(-1);
  attrs.rcond = rcond;
  LeastSquares out;
  out.solution = matrices_like(A, {attrs.n, attrs.k});
  out.rank = allocate(Dims(batch_of(A)), DType::kInt64, A.device());
  const Tensor a = contiguous(A), b = contiguous(B);
  enqueue(solve, {write(out.solution), write(out.rank), read(a), read(b)},
          attrs);
  return out;
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& A,
                                                 const Tensor& B,
                                                 Optional<double> rcond,
                                                 Optional<std::string> driver) {
  const char* op = "torch.linalg.lstsq: ";
  HOTARU_CHECK(A.dim() >= 2, op, "input must have at least 2 dimensions.");
  HOTARU_CHECK(B.dim() >= 1, op, "other must have at least 1 dimension.");
  HOTARU_CHECK(A.dtype() == B.dtype(), op,
               "Expected input and other to have the same dtype, but got "
               "input's dtype ",
               scalar_type_name(A.dtype()), " and other's dtype ",
               scalar_type_name(B.dtype()));
  check_linalg_dtype("torch.linalg.lstsq", A);
  HOTARU_CHECK(A.dim() >= B.dim() && A.dim() - B.dim() <= 1, op,
               "input.dim() must be greater or equal to other.dim() and "
               "(input.dim() - other.dim()) <= 1");
  std::string by = driver.value_or("gelsy");
  for (char& c : by) c = char(std::tolower(c));
  HOTARU_CHECK(by == "gels" || by == "gelsy" || by == "gelsd" || by == "gelss",
               op,
               "parameter `driver` should be one of (gels, gelsy, gelsd, "
               "gelss)");
  const int64_t m = A.size(-2), n = A.size(-1);
  const bool vector =
      B.dim() == 1 || (A.dim() - B.dim() == 1 &&
                       same(B.sizes(), A.sizes().first(size_t(A.dim() - 1))));
  HOTARU_CHECK(B.size(vector ? -1 : -2) == m, op,
               vector ? "input.size(-2) should match other.size(-1)"
                      : "input.size(-2) should match other.size(-2)");
  const auto [a, b] = same_batch(A, vector ? unsqueeze(B, -1) : B);
  const DType real = to_real(A.dtype());
  const auto nothing = [&](DType dtype) {
    return allocate(Dims{0}, dtype, A.device());
  };
  const bool ranks = by != "gels", values = by == "gelsd" || by == "gelss";
  LeastSquares found;
  {
    autograd::NoGrad guard;
    const double limit = by == "gels" ? 0.0 : rcond.value_or(precision(A));
    found = values || A.numel() == 0
                ? least_squares(a, b, limit)
                : quick_least_squares("linalg.lstsq", a, b, limit);
  }
  bool measured = m > n && by != "gelsy" && A.numel() > 0;
  if (measured && ranks) {
    const Tensor whole = all(eq(found.rank, n));
    measured = host_value(whole, "the shape of the residuals").to_int() != 0;
  }
  Tensor residuals = nothing(real);
  if (measured) {
    autograd::NoGrad guard;
    residuals = sum(square(abs(matmul(a, found.solution) - b)), Dims{-2});
  }
  record_lstsq(found.solution, residuals, a, b, number(a, rcond));
  return {vector ? squeeze(found.solution, -1) : found.solution, residuals,
          ranks ? found.rank : nothing(DType::kInt64),
          values ? found.singular_values : nothing(real)};
}

}  // namespace

Tensor linalg_pinv(const Tensor& A, const Tensor& atol, const Tensor& rtol,
                   bool hermitian) {
  HOTARU_CHECK(
      A.dim() >= 2 && is_differentiable(A.dtype()) && itemsize(A.dtype()) > 2,
      "linalg.pinv(", scalar_type_name(A.dtype()), "{", shape_text(A.sizes()),
      "}): expected a tensor with 2 or more dimensions of float, "
      "double, cfloat or cdouble types");
  const Tolerance t = tolerances("torch.linalg.pinv", A, atol, rtol);
  Tensor out;
  {
    autograd::NoGrad guard;
    if (A.numel() == 0) {
      out =
          zeros(with(batch_of(A), {A.size(-1), A.size(-2)}), TensorOptions(A));
    } else if (hermitian) {
      const auto [L, V] = linalg_eigh(A);
      const Tensor x = to(inverted(L, counted(abs(L), t)), A.dtype());
      out = matmul(V * per_column(x), adjoint(V));
    } else {
      const auto [U, S, Vh] = linalg_svd(A, false);
      const Tensor x = to(inverted(S, counted(S, t)), A.dtype());
      out = matmul(adjoint(Vh) * per_column(x), adjoint(U));
    }
  }
  record_pinv(out, A);
  return out;
}

HOTARU_OP(
    "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? "
    "rtol=None, bool hermitian=False) -> Tensor",
    linalg_pinv);
HOTARU_OP(
    "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? "
    "rtol=None, bool hermitian=False) -> Tensor",
    +[](const Tensor& A, Optional<double> atol, Optional<double> rtol,
        bool hermitian) {
      return linalg_pinv(A, number(A, atol), number(A, rtol), hermitian);
    });
HOTARU_OP(
    "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool "
    "hermitian=False) -> Tensor",
    +[](const Tensor& A, const Tensor& rcond, bool hermitian) {
      return linalg_pinv(A, number(A, 0.0), rcond, hermitian);
    });
HOTARU_OP(
    "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
    +[](const Tensor& A, double rcond, bool hermitian) {
      return linalg_pinv(A, number(A, 0.0), number(A, rcond), hermitian);
    });
HOTARU_OP(
    "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
    +[](const Tensor& self, double rcond) {
      return linalg_pinv(self, number(self, 0.0), number(self, rcond));
    });
HOTARU_OP(
    "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, "
    "Tensor? rtol=None, bool hermitian=False) -> Tensor",
    matrix_rank);
HOTARU_OP(
    "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, "
    "float? rtol=None, bool hermitian=False) -> Tensor",
    +[](const Tensor& A, Optional<double> atol, Optional<double> rtol,
        bool hermitian) {
      return matrix_rank(A, number(A, atol), number(A, rtol), hermitian);
    });
HOTARU_OP(
    "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool "
    "hermitian=False) -> Tensor",
    +[](const Tensor& A, const Tensor& tol, bool hermitian) {
      return matrix_rank(A, tol, number(A, 0.0), hermitian);
    });
HOTARU_OP(
    "linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> "
    "Tensor",
    +[](const Tensor& A, double tol, bool hermitian) {
      return matrix_rank(A, number(A, tol), number(A, 0.0), hermitian);
    });
HOTARU_OP(
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? "
    "driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor "
    "singular_values)",
    lstsq);

}  // namespace hotaru
