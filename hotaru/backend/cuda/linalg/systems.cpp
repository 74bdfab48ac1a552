// Launching LU, Cholesky's factors and what solves with them.
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/linalg/linalg.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/special_errors.h"

namespace hotaru::cuda {
namespace {

constinit const Functions lu_("Lu"), lu_solve("LuSolve"),
    lu_solve_second("LuSolve", "_2"), determinant_("Determinant"),
    triangular_("Triangular"), cholesky_("Cholesky");
const Function lu_permutation("LuPermutation");

constexpr KernelTypes<LinalgTypes> kFactorTypes{0, "lu_cpu"};
constexpr KernelTypes<LinalgTypes> kDeterminantTypes{3, "lu_cpu"};
constexpr KernelTypes<LinalgTypes> kTriangularTypes{0, "triangular_solve"};
constexpr KernelTypes<LinalgTypes> kCholeskyTypes{0, "cholesky_cpu"};

/// Bytes of a matrix's factors and `ints` numbers behind them.
int64_t factor_bytes(const LinalgAttributes& s, DType dtype, int64_t ints) {
  return s.m * s.m * int64_t(itemsize(dtype)) + ints * 4;
}

/// Large matrices' factors, in the workspace; the pivots stand `before` numbers
/// behind them.
void factor_in_workspace(LinalgLaunch& l, DType dtype, int64_t before) {
  const LinalgAttributes& s = l.attributes();
  if (!has_panels(s.m, s.m)) return;
  PanelParams p;
  p.m = p.n = l.params.m;
  p.from = l.params.in[0];
  p.a = l.params.work;
  p.pivots = p.a + factor_bytes(s, dtype, before);
  p.a_bytes = p.pivot_bytes = l.params.work_bytes;
  factor_by_panels(l, dtype, p);
  l.params.factored = true;
}

[[noreturn]] void raise_pivot(const FailureText&, int64_t,
                              const int64_t* numbers) {
  fail("Pivots given to lu_solve must all be ",
       numbers[1] == 1 ? "greater or equal to 1"
                       : "smaller or equal to LU.size(-2)",
       ". Did you properly pass the result of lu_factor?");
}
[[noreturn]] void raise_unpack(const FailureText&, int64_t, const int64_t*) {
  fail(
      "pivots passed to lu_unpack must be between 1 and LU.size(-2) "
      "inclusive.Did you properly pass the result of lu_factor?");
}

void permutation(const KernelCall& call) {
  LinalgLaunch l(call);
  if (l.attributes().m == 0) return;
  l.info(2);
  l.params.out[0] = l.operand(0);
  l.params.in[0] = l.operand(1);
  l.run(lu_permutation, linalg_threads(l.attributes().m, 1));
  l.check(l.attributes().inverse ? raise_pivot : raise_unpack);
}

void triangular(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  if (s.m == 0) return;
  l.params.out[0] = l.operand(0);
  l.params.in[0] = l.operand(1);
  l.params.in[1] = l.operand(2);
  l.run(triangular_.of(call.tensor(0).dtype()), solve_threads(s), s.n);
}

[[noreturn]] void raise_cholesky(const FailureText& text, int64_t,
                                 const int64_t* numbers) {
  fail<LinAlgError>(
      text.op, ": ", matrix_name(text, numbers),
      "The factorization could not be completed because the input is not "
      "positive-definite (the leading minor of order ",
      numbers[1], " is not positive-definite).");
}

void cholesky(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  l.info(1);
  l.params.out[0] = l.operand(0);
  l.params.in[0] = l.operand(2);
  if (has_panels(s.m, s.m)) {
    PanelParams p;
    p.from = l.params.in[0];
    p.a = static_cast<char*>(l.params.out[0]);
    p.a_bytes = s.m * s.m * int64_t(itemsize(call.tensor(0).dtype()));
    p.m = p.n = l.params.m;
    p.lower = true;
    factor_by_panels(l, call.tensor(0).dtype(), p);
    if (s.check) l.check(raise_cholesky);
    return;
  }
  l.run(cholesky_.of(call.tensor(0).dtype()), linalg_threads(s.m, s.m));
  if (s.check) l.check(raise_cholesky);
}

[[noreturn]] void raise_lu(const FailureText& text, int64_t,
                           const int64_t* numbers) {
  fail(text.op, ": ", matrix_name(text, numbers), "U[", numbers[1], ",",
       numbers[1],
       "] is zero and using it on lu_solve would result in a division by "
       "zero. If you still want to perform the factorization, consider calling "
       "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
}

void lu(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  l.info(2);
  l.params.out[0] = l.operand(0);
  l.params.out[1] = l.operand(1);
  l.params.in[0] = l.operand(3);
  if (has_panels(s.m, s.n)) {
    PanelParams p;
    p.from = l.params.in[0];
    p.a = static_cast<char*>(l.params.out[0]);
    p.m = l.params.m;
    p.n = l.params.n;
    p.a_bytes = s.m * s.n * int64_t(itemsize(call.tensor(0).dtype()));
    p.pivots = static_cast<char*>(l.params.out[1]);
    p.pivot_bytes = s.k * 4;
    p.pivot = s.pivot;
    factor_by_panels(l, call.tensor(0).dtype(), p);
    if (s.check) l.check(raise_lu);
    return;
  }
  l.run(lu_.of(call.tensor(0).dtype()), linalg_threads(s.m, s.n));
  if (s.check) l.check(raise_lu);
}

void determinant(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  const DType dtype = call.tensor(3).dtype();
  l.work(factor_bytes(s, dtype, s.m));
  for (size_t i = 0; i < 3; ++i) l.params.out[i] = l.operand(i);
  l.params.in[0] = l.operand(3);
  l.info(call.operands().size());
  factor_in_workspace(l, dtype, 0);
  l.run(determinant_.of(dtype), linalg_threads(s.m, s.m));
}

[[noreturn]] void raise_solve(const FailureText& text, int64_t,
                              const int64_t* numbers) {
  fail<LinAlgError>(text.op, ": ", matrix_name(text, numbers),
                    "The solver failed because the input matrix is singular.");
}
[[noreturn]] void raise_inverse(const FailureText& text, int64_t,
                                const int64_t* numbers) {
  fail<LinAlgError>(text.op, ": ", matrix_name(text, numbers),
                    "The diagonal element ", numbers[1],
                    " is zero, the inversion could not be completed because "
                    "the input matrix is singular.");
}

void solve(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  const DType dtype = call.tensor(0).dtype();
  l.info(1);
  l.work(factor_bytes(s, dtype, 2 * s.m));
  l.params.out[0] = l.operand(0);
  l.params.in[0] = l.operand(2);
  l.params.in[1] = l.operand(3);
  factor_in_workspace(l, dtype, s.m);
  l.run(lu_solve.of(dtype), linalg_threads(s.m, s.m));
  if (s.m > 0) l.run(lu_solve_second.of(dtype), solve_threads(s), s.n);
  if (s.check) l.check(s.inverse ? raise_inverse : raise_solve);
}

HOTARU_KERNEL(kCUDA, "linalg_permutation", permutation);
HOTARU_KERNEL(kCUDA, "linalg_triangular", triangular,
              check_types<kTriangularTypes>);
HOTARU_KERNEL(kCUDA, "linalg_cholesky", cholesky, check_types<kCholeskyTypes>);
HOTARU_KERNEL(kCUDA, "linalg_lu", lu, check_types<kFactorTypes>);
HOTARU_KERNEL(kCUDA, "linalg_determinant", determinant,
              check_types<kDeterminantTypes>);
HOTARU_KERNEL(kCUDA, "linalg_solve", solve, check_types<kFactorTypes>);

}  // namespace
}  // namespace hotaru::cuda
