// The CPU's kernels of HOTARU_OTHER_ARITHMETIC.
#include "hotaru/backend/common/pointwise/formulas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \
  "hotaru/backend/cpu/pointwise/pointwise_arithmetic.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

void register_arithmetic() {
  using namespace formulas;
  HOTARU_OTHER_ARITHMETIC(HOTARU_REGISTER_POINTWISE)
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(register_arithmetic);
static const bool registered_arithmetic =
    (HWY_DYNAMIC_DISPATCH(register_arithmetic)(), true);
}  // namespace hotaru::cpu
#endif
