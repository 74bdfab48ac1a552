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

/// The loop for vectors where the dtype has one.
template <Quick which, template <class> class F, class Types>
static std::optional<Elementwise> quick_first(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (const auto loop = quick_loop(which, call)) return loop;
  return pointwise_loop<F, Types, 1, Loops::kDense>(call);
}

template <Quick which, template <class> class F, class Types>
static void register_quick(const char* name) {
  using namespace HWY_NAMESPACE;
  const ElementwiseRegistration<&quick_first<which, F, Types>> registered(
      name, &check_types<kPointwiseTypes<Types>>);
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
  register_quick<Quick::kAngle, Angle, FloatingAndComplexTypes>("angle");
  register_quick<Quick::kLog2, Log2, FloatingTypes>("log2");
  register_quick<Quick::kLog10, Log10, FloatingAndComplexTypes>("log10");
  return true;
}();

}  // namespace hotaru::cpu
