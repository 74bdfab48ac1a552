// Launching the exponential of matrices.
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/linalg/linalg.h"

namespace hotaru::cuda {
namespace {

constinit const Functions matrix_exp_("MatrixExp");

constexpr KernelTypes<LinalgTypes> kTypes{0, "matrix_exp"};

void matrix_exp(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  const DType dtype = call.tensor(0).dtype();
  if (s.m == 0) return;
  l.work((kExponentialPowers + kExponentialSums) * s.m * s.m *
         int64_t(itemsize(dtype)));
  l.params.out[0] = l.operand(0);
  l.params.in[0] = l.operand(1);
  l.run(matrix_exp_.of(dtype), linalg_threads(s.m, s.m));
}

HOTARU_KERNEL(kCUDA, "linalg_matrix_exp", matrix_exp, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cuda
