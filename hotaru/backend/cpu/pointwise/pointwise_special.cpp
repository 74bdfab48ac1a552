// Special functions, element by element: one compilation for every processor
// of all but those of single precision that vectorise (special_loops.h).
#include <hwy/highway.h>

#include "hotaru/backend/common/pointwise/special.h"
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"
#include "hotaru/backend/cpu/pointwise/special_loops.h"

namespace hotaru::cpu {

namespace {

std::optional<Elementwise> special_unary(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (call.tensor(1).dtype() == DType::kFloat32) {
    const int64_t which = call.attributes<PointwiseNumbers>().a.to_int();
    if (const auto loop = special_float_loop(special::Unary(which)))
      return Elementwise(loop);
  }
  return pointwise_loop<formulas::SpecialUnary, FloatingTypes, 1,
                        Loops::kDense>(call);
}

std::optional<Elementwise> special_binary(const KernelCall& call) {
  using namespace HWY_NAMESPACE;
  if (call.tensor(1).dtype() == DType::kFloat32) {
    const special::Binary which{call.attributes<PointwiseNumbers>().a.to_int()};
    if (which == special::k_igamma || which == special::k_igammac)
      return Elementwise(incomplete_gamma_loop(which));
    if (const auto loop = polynomial_float_loop(which))
      return Elementwise(loop);
  }
  return pointwise_loop<formulas::SpecialBinary, FloatingTypes, 2,
                        Loops::kDense>(call);
}

}  // namespace

static const bool registered_special = [] {
  using namespace formulas;
  using namespace HWY_NAMESPACE;
  const ElementwiseRegistration<special_unary> unary(
      "special_unary", &check_types<kPointwiseTypes<FloatingTypes>>);
  const ElementwiseRegistration<special_binary> binary(
      "special_binary", &check_types<kPointwiseTypes<FloatingTypes>>);
  return true;
}();

}  // namespace hotaru::cpu
