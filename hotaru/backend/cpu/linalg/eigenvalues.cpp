// Eigenvalues and eigenvectors by the QR algorithm.
#include <Eigen/Eigenvalues>

#include "hotaru/backend/cpu/linalg/eigen.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<LinalgTypes> kGeneralTypes{2, "linalg_eig_out_cpu"};

template <class T>
using GeneralSolver =
    std::conditional_t<kIsComplex<T>, Eigen::ComplexEigenSolver<Dense<T>>,
                       Eigen::EigenSolver<Dense<T>>>;

void eig(const KernelCall& call) {
  const auto& s = call.attributes<LinalgAttributes>();
  const Tensor& vectors = call.tensor(1);
  kGeneralTypes.visit(call, [&]<class T>() {
    using C = std::complex<Real<T>>;
    for (int64_t i = 0; i < s.batch && s.m > 0; ++i) {
      const Dense<T> a = mapped<T>(call.tensor(2), i, s.m, s.m);
      HOTARU_CHECK(is_finite(a), s.name,
                   ": input tensor should not contain infs or NaNs.");
      const GeneralSolver<T> solver(a, vectors.defined());
      HOTARU_CHECK_AS(LinAlgError, solver.info() == Eigen::Success, s.name,
                      ": ", where(i, s.batched),
                      "The algorithm failed to converge.");
      mapped<C>(call.tensor(0), i, s.m) = solver.eigenvalues();
      if (vectors.defined())
        mapped<C>(vectors, i, s.m, s.m) = solver.eigenvectors();
    }
  });
}

HOTARU_KERNEL(kCPU, "linalg_eig", eig, check_types<kGeneralTypes>);

}  // namespace
}  // namespace hotaru::cpu
