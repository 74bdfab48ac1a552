// Kernels with branches or library calls, which gain nothing from SIMD: one
// compilation for every processor.
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/formulas.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"
#include "hotaru/backend/cpu/pointwise/quick_loops.h"

namespace hotaru::cpu {
namespace {

/// The quick loop, or the formula's for what has none.
template <Quick which, template <class> class F>
std::optional<Elementwise> quick_first(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (const auto loop = quick_loop(which, call)) return loop;
  return pointwise_loop<F, TypeList<uint8_t, int8_t, int16_t>, 2,
                        Loops::kDense>(call);
}

std::optional<Elementwise> pow(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (const auto loop = quick_loop(Quick::kPow, call)) return loop;
  return pointwise_loop<formulas::Pow, NumberTypes, 2, Loops::kDense>(call);
}

template <Quick which, template <class> class F, class Types>
void quotient(const char* name) {
  using namespace HWY_NAMESPACE;
  const ElementwiseRegistration<&quick_first<which, F>> registered(
      name, &check_types<kPointwiseTypes<Types>>);
}

}  // namespace

static const bool registered_division = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  HOTARU_DIVISION(HOTARU_REGISTER_DENSE)
#define HOTARU_QUOTIENT(name, F, Types, inputs) \
  quotient<Quick::k##F, F, Types>(name);
  HOTARU_QUOTIENTS(HOTARU_QUOTIENT)
#undef HOTARU_QUOTIENT
  // In the place of the list's: floats have a loop that vectorises.
  const ElementwiseRegistration<&cpu::pow> powers(
      "pow", &check_types<kPointwiseTypes<NumberTypes>>);
  return true;
}();

}  // namespace hotaru::cpu
