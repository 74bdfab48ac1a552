// Elementary functions taken from the C library, element by element: one
// compilation for every processor.
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"
#include "hotaru/backend/cpu/pointwise/special_loops.h"

namespace hotaru::cpu {

static std::optional<Elementwise> log_gamma(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (call.tensor(1).dtype() == DType::kFloat32)
    return Elementwise(lgamma_float_loop());
  return pointwise_loop<formulas::Lgamma, FloatingTypes, 1, Loops::kDense>(
      call);
}

static const bool registered_library = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  HOTARU_LIBRARY(HOTARU_REGISTER_DENSE)
  // In the place of the list's: floats have a loop that vectorises.
  const ElementwiseRegistration<log_gamma> floats(
      "lgamma", &check_types<kPointwiseTypes<FloatingTypes>>);
  return true;
}();

}  // namespace hotaru::cpu
