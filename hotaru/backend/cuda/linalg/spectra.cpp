// Launching eigenvalues and singular values.
#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/libraries/cusolver.h"
#include "hotaru/backend/cuda/linalg/linalg.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/special_errors.h"

namespace hotaru::cuda {
namespace {

constinit const Functions eig_("Eig"), eigh_("Eigh"), svd_("Svd"),
    least_squares_("LeastSquares"), least_squares_second("LeastSquares", "_2");

constexpr KernelTypes<LinalgTypes> kEigTypes{2, "linalg_eig_out_cpu"};
constexpr KernelTypes<LinalgTypes> kEighTypes{2, "linalg_eigh_cpu"};
constexpr KernelTypes<LinalgTypes> kSvdTypes{3, "linalg_svd_cpu"};
constexpr KernelTypes<LinalgTypes> kLeastTypes{0, "linalg_lstsq_cpu"};

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
  l.params.out[1] = l.operand(1);
  l.params.vectors = vectors;
  l.params.in[0] = l.operand(2);
  LibraryInfo said;
  eigh_by_cusolver(l, dtype, said);
  l.run(eigh_.of(dtype), linalg_threads(s.m, s.m));
  l.check(raise_eigh);
}

[[noreturn]] void raise_svd(const FailureText& text, int64_t,
                            const int64_t* numbers) {
  fail<LinAlgError>(
      text.op, ": ", matrix_name(text, numbers),
      "The algorithm failed to converge because the input matrix ",
      numbers[1] == 1
          ? "contained non-finite values."
          : "is ill-conditioned or has too many repeated singular values "
            "(error code: 1).");
}

void svd(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  const Tensor &u = call.tensor(1), &vh = call.tensor(2);
  const DType dtype = call.tensor(3).dtype();
  const int64_t most = std::max(s.m, s.n), least = std::min(s.m, s.n);
  const bool vectors = u.defined();
  l.params.vectors = vectors;
  l.params.k = vectors ? int32_t(u.size(-1)) : 0;
  l.params.l = vectors ? int32_t(vh.size(-2)) : 0;
  const int64_t columns = std::max(l.params.k, l.params.l);
  l.work(svd_elements(most, least, vectors, columns) *
         int64_t(itemsize(dtype)));
  l.info(call.operands().size());
  for (size_t i = 0; i < 3; ++i) l.params.out[i] = l.operand(i);
  l.params.in[0] = l.operand(3);
  if (least == 0 && !vectors) return;
  LibraryInfo said;
  svd_by_cusolver(l, dtype, said);
  l.run(svd_.of(dtype), linalg_threads(s.m, s.n));
  l.check(raise_svd);
}

void least_squares(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  const DType dtype = call.tensor(0).dtype();
  const int64_t most = std::max(s.m, s.n), least = std::min(s.m, s.n);
  // QR has b beside A; singular values have x in their vectors' terms.
  const int64_t along = std::max(s.m >= s.n ? s.m * s.k : 0, least * s.k);
  l.work((most * least + least * (least + 1) + along) *
         int64_t(itemsize(dtype)));
  l.info(call.operands().size());
  l.params.out[0] = l.operand(0);
  l.params.out[1] = l.operand(1);
  l.params.in[0] = l.operand(2);
  l.params.in[1] = l.operand(3);
  l.run(least_squares_.of(dtype), linalg_threads(s.m, s.n));
  l.run(least_squares_second.of(dtype), linalg_threads(s.m, s.n));
  l.check(raise_svd);
}

[[noreturn]] void raise_eig(const FailureText& text, int64_t,
                            const int64_t* numbers) {
  if (numbers[1] == 1)
    fail(text.op, ": input tensor should not contain infs or NaNs.");
  fail<LinAlgError>(text.op, ": ", matrix_name(text, numbers),
                    "The algorithm failed to converge.");
}

void eig(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  if (s.m == 0) return;
  const DType dtype = call.tensor(2).dtype();
  const int64_t item = int64_t(itemsize(dtype));
  const int64_t results = int64_t(itemsize(call.tensor(0).dtype()));
  const bool vectors = call.tensor(1).defined();
  // Vectors of the triangular matrix, that and what turned it, scales of rows.
  l.work((vectors ? results + 2 * item : item) * s.m * s.m + item * s.m);
  l.info(call.operands().size());
  l.params.out[0] = l.operand(0);
  l.params.out[1] = l.operand(1);
  l.params.vectors = vectors;
  l.params.in[0] = l.operand(2);
  LibraryInfo said;
  eig_by_cusolver(l, dtype, said);
  l.run(eig_.of(dtype), linalg_threads(s.m, s.m));
  l.check(raise_eig);
}

HOTARU_KERNEL(kCUDA, "linalg_eig", eig, check_types<kEigTypes>);
HOTARU_KERNEL(kCUDA, "linalg_svd", svd, check_types<kSvdTypes>);
HOTARU_KERNEL(kCUDA, "linalg_least_squares", least_squares,
              check_types<kLeastTypes>);
HOTARU_KERNEL(kCUDA, "linalg_eigh", eigh, check_types<kEighTypes>);

}  // namespace
}  // namespace hotaru::cuda
