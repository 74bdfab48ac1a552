// The CPU's kernels of HOTARU_PRODUCTS, without fused multiply-adds.
#include "hotaru/backend/common/pointwise/formulas.h"

#ifndef HOTARU_NO_FUSED
#error "needs -ffp-contract=off: see hotaru_own_flags in hotaru/CMakeLists.txt"
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pointwise/pointwise_products.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

void register_products() {
  using namespace formulas;
  HOTARU_PRODUCTS(HOTARU_REGISTER_POINTWISE)
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(register_products);
static const bool registered_products =
    (HWY_DYNAMIC_DISPATCH(register_products)(), true);
}  // namespace hotaru::cpu
#endif
