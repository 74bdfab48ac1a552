// Launching QR and products of reflections.
#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/libraries/cusolver.h"
#include "hotaru/backend/cuda/linalg/linalg.h"

namespace hotaru::cuda {
namespace {

constinit const Functions geqrf_("Geqrf"), qr_("Qr"),
    householder_("Householder");

constexpr KernelTypes<LinalgTypes> kQrTypes{2, "geqrf_cpu"};
constexpr KernelTypes<LinalgTypes> kGeqrfTypes{0, "geqrf_cpu"};
constexpr KernelTypes<LinalgTypes> kProductTypes{0, "orgqr_cpu"};

void geqrf(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  l.params.out[0] = l.operand(0);
  l.params.out[1] = l.operand(1);
  l.params.in[0] = l.operand(2);
  const DType dtype = call.tensor(0).dtype();
  if (std::min(s.m, s.n) > 0 && !geqrf_by_cusolver(l, dtype))
    l.run(geqrf_.of(dtype), linalg_threads(s.m, s.n));
}

void qr(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  const DType dtype = call.tensor(2).dtype();
  l.params.out[0] = l.operand(0);
  l.params.out[1] = l.operand(1);
  l.params.in[0] = l.operand(2);
  if (s.m == 0 || qr_by_cusolver(l, dtype)) return;
  l.work((s.m * s.n + std::min(s.m, s.n)) * int64_t(itemsize(dtype)));
  l.run(qr_.of(dtype), linalg_threads(s.m, s.n));
}

void householder(const KernelCall& call) {
  LinalgLaunch l(call);
  const LinalgAttributes& s = l.attributes();
  l.params.out[0] = l.operand(0);
  l.params.in[0] = l.operand(1);
  l.params.in[1] = l.operand(2);
  const DType dtype = call.tensor(0).dtype();
  if (s.m * s.n > 0 && !householder_by_cusolver(l, dtype))
    l.run(householder_.of(dtype), linalg_threads(s.m, s.n));
}

HOTARU_KERNEL(kCUDA, "linalg_qr", qr, check_types<kQrTypes>);
HOTARU_KERNEL(kCUDA, "linalg_geqrf", geqrf, check_types<kGeqrfTypes>);
HOTARU_KERNEL(kCUDA, "linalg_householder", householder,
              check_types<kProductTypes>);

}  // namespace
}  // namespace hotaru::cuda
