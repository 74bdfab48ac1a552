// Singular values by bidiagonalisation, then divide and conquer.
#include <Eigen/SVD>

#include "hotaru/backend/cpu/linalg/eigen.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<LinalgTypes> kTypes{3, "linalg_svd_cpu"};

template <class T>
void factor(const KernelCall& call, const LinalgAttributes& s, int64_t i,
            const Dense<T>& a) {
  const Tensor &u = call.tensor(1), &vh = call.tensor(2);
  unsigned what = 0;
  if (u.defined())
    what = s.k == s.m && s.k != std::min(s.m, s.n) ? Eigen::ComputeFullU
                                                   : Eigen::ComputeThinU;
  if (vh.defined())
    what |= vh.size(-2) == s.n ? Eigen::ComputeFullV : Eigen::ComputeThinV;
  Eigen::BDCSVD<Dense<T>> svd(a, what);
  const int64_t k = std::min(s.m, s.n);
  mapped<Real<T>>(call.tensor(0), i, k) = svd.singularValues();
  if (!u.defined()) return;
  mapped<T>(u, i, s.m, u.size(-1)) = svd.matrixU();
  mapped<T>(vh, i, vh.size(-2), s.n) = svd.matrixV().adjoint();
}

void svd(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  kTypes.visit(call, [&]<class T>() {
    for (int64_t i = 0; i < s.batch; ++i) {
      const Dense<T> a = mapped<T>(call.tensor(3), i, s.m, s.n);
      HOTARU_CHECK_AS(LinAlgError, is_finite(a), s.name, ": ",
                      where(i, s.batched),
                      "The algorithm failed to converge because the input "
                      "matrix contained non-finite values.");
      if (s.m > 0 && s.n > 0) {
        factor<T>(call, s, i, a);
      } else if (call.tensor(1).defined()) {  // bases that nothing turns
        const Tensor &u = call.tensor(1), &vh = call.tensor(2);
        mapped<T>(u, i, s.m, u.size(-1)).setIdentity();
        mapped<T>(vh, i, vh.size(-2), s.n).setIdentity();
      }
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_svd", svd, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
