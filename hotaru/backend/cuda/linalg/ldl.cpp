// Launching L D L^T and what solves with it.
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/linalg/linalg.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constinit const Functions ldl_("Ldl"), ldl_solve_("LdlSolve");

constexpr KernelTypes<LinalgTypes> kFactorTypes{0, "ldl_factor"};
constexpr KernelTypes<LinalgTypes> kSolveTypes{0, "ldl_solve"};

[[noreturn]] void raise_zero(const FailureText& text, int64_t,
                             const int64_t* numbers) {
  fail(text.op, ": ", matrix_name(text, numbers), "The diagonal element ",
       numbers[1],
       " is zero, using it on ldl_solve would result in a division by zero. If "
       "you still want to perform the factorization, consider calling "
       "linalg.ldl_factor_ex");
}

void ldl(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  l.info(2);
  l.params.out[0] = l.operand(0);
  l.params.out[1] = l.operand(1);
  l.params.in[0] = l.operand(3);
  l.run(ldl_.of(call.tensor(0).dtype()), linalg_threads(s.m, s.m));
  if (s.check) l.check(raise_zero);
}

[[noreturn]] void raise_pivots(const FailureText&, int64_t, const int64_t*) {
  fail("linalg.ldl_solve: pivots are not those of ldl_factor");
}

void ldl_solve(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  if (s.m * s.n == 0) return;
  l.info(call.operands().size());
  l.params.out[0] = l.operand(0);
  for (size_t i = 0; i < 3; ++i) l.params.in[i] = l.operand(i + 1);
  l.run(ldl_solve_.of(call.tensor(0).dtype()), solve_threads(s), s.n);
  l.check(raise_pivots);
}

HOTARU_KERNEL(kCUDA, "linalg_ldl", ldl, check_types<kFactorTypes>);
HOTARU_KERNEL(kCUDA, "linalg_ldl_solve", ldl_solve, check_types<kSolveTypes>);

}  // namespace
}  // namespace hotaru::cuda
