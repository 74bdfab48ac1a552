// Launching eigenvalues and singular values.
#include <algorithm>

#include "hotaru/backend/cuda/linalg/linalg.h"

namespace hotaru::cuda {
namespace {

constinit const Functions eigh_("Eigh");

constexpr KernelTypes<LinalgTypes> kEighTypes{2, "linalg_eigh_cpu"};

[[noreturn]] void raise_eigh(const FailureText& text, int64_t,
                             const int64_t* numbers) {
  fail<LinAlgError>(text.op, ": ", matrix_name(text, numbers),
                    "The algorithm failed to converge because the input matrix "
                    "is ill-conditioned or has too many repeated eigenvalues "
                    "(error code: ",
                    numbers[1] == 1 ? 1 : numbers[1] - 2, ").");
}

void eigh(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  if (s.m == 0) return;
  const DType dtype = call.tensor(2).dtype();
  const int64_t item = int64_t(itemsize(dtype));
  const bool vectors = call.tensor(1).defined();
  // The matrix, its vectors, factors of reflections and four real numbers a
  // row.
  l.work(((vectors ? 2 : 1) * s.m * s.m + 5 * s.m) * item);
  l.info(call.operands().size());
  l.params.out[0] = l.operand(0);
  l.params.out[1] = vectors ? l.operand(1) : nullptr;
  l.params.in[0] = l.operand(2);
  l.run(eigh_.of(dtype), linalg_threads(s.m, s.m));
  l.check(raise_eigh);
}

HOTARU_KERNEL(kCUDA, "linalg_eigh", eigh, check_types<kEighTypes>);

}  // namespace
}  // namespace hotaru::cuda
