// The CPU's kernels of HOTARU_COMPARISONS.
#include "hotaru/backend/common/pointwise/formulas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pointwise/pointwise_compare.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

void register_compare() {
  using namespace formulas;
  HOTARU_COMPARISONS(HOTARU_REGISTER_POINTWISE)
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(register_compare);
static const bool registered_compare =
    (HWY_DYNAMIC_DISPATCH(register_compare)(), true);
}  // namespace hotaru::cpu
#endif
