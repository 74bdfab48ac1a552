// Elementary functions taken from the C library, element by element: one
// compilation for every processor.
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"
#include "hotaru/backend/cpu/pointwise/quick_loops.h"
#include "hotaru/backend/cpu/pointwise/special_loops.h"

namespace hotaru::cpu {

static std::optional<Elementwise> log_gamma(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (call.tensor(1).dtype() == DType::kFloat32)
    return Elementwise(lgamma_float_loop());
  return pointwise_loop<formulas::Lgamma, FloatingTypes, 1, Loops::kDense>(
      call);
}

static std::optional<Elementwise> trigamma(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (call.tensor(1).dtype() == DType::kFloat32)
    return Elementwise(trigamma_float_loop());
  return pointwise_loop<formulas::Trigamma, FloatingTypes, 1, Loops::kDense>(
      call);
}

static std::optional<Elementwise> angle(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (const auto loop = quick_loop(Quick::kAngle, call)) return loop;
  return pointwise_loop<formulas::Angle, FloatingAndComplexTypes, 1,
                        Loops::kDense>(call);
}

static const bool registered_library = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  HOTARU_LIBRARY(HOTARU_REGISTER_DENSE)
  // In the place of the list's: floats have a loop that vectorises.
  const ElementwiseRegistration<log_gamma> log_gammas(
      "lgamma", &check_types<kPointwiseTypes<FloatingTypes>>);
  const ElementwiseRegistration<trigamma> trigammas(
      "trigamma", &check_types<kPointwiseTypes<FloatingTypes>>);
  const ElementwiseRegistration<cpu::angle> angles(
      "angle", &check_types<kPointwiseTypes<FloatingAndComplexTypes>>);
  return true;
}();

}  // namespace hotaru::cpu
