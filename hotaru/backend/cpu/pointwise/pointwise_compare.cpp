// The CPU's kernels of formulas/compare.h.
#include "hotaru/backend/common/pointwise/compare.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pointwise/pointwise_compare.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

using BitTypes = TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t, Bool>;

void register_compare() {
  using namespace formulas;
  pointwise<Eq, AllTypes, 2>("eq");
  pointwise<Ne, AllTypes, 2>("ne");
  pointwise<Lt, RealAndBoolTypes, 2>("lt");
  pointwise<Le, RealAndBoolTypes, 2>("le");
  pointwise<Gt, RealAndBoolTypes, 2>("gt");
  pointwise<Ge, RealAndBoolTypes, 2>("ge");
  pointwise<LogicalAnd, AllTypes, 2>("logical_and");
  pointwise<LogicalOr, AllTypes, 2>("logical_or");
  pointwise<LogicalXor, AllTypes, 2>("logical_xor");
  pointwise<LogicalNot, AllTypes, 1>("logical_not");
  pointwise<BitAnd, BitTypes, 2>("bitwise_and");
  pointwise<BitOr, BitTypes, 2>("bitwise_or");
  pointwise<BitXor, BitTypes, 2>("bitwise_xor");
  pointwise<BitNot, BitTypes, 1>("bitwise_not");
  pointwise<IsNan, AllTypes, 1>("isnan");
  pointwise<IsInf, AllTypes, 1>("isinf");
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
