#include "hotaru/backend/cpu/pointwise/special_loops.h"

#include "hotaru/backend/common/pointwise/gamma.h"
#include "hotaru/backend/common/pointwise/special_float_waves.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pointwise/special_loops.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: compiled for each target.
#include "hotaru/backend/cpu/pointwise/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

#define HOTARU_FORMULA(name) \
  struct Formula_##name { \
    HOTARU_INLINE float operator()(float x) const { \
      return special_float::name(x); \
    } \
  };
HOTARU_SPECIAL_FLOAT(HOTARU_FORMULA)
#undef HOTARU_FORMULA

/// With the other arguments in double.
#define HOTARU_FORMULA(name, most) \
  struct Formula_##name { \
    HOTARU_INLINE static bool holds(float x) { return std::fabs(x) < most; } \
    HOTARU_INLINE static float quick(float x) { \
      return special_float::name(x); \
    } \
    float operator()(float x) const { return float(special::name(x)); } \
  };
HOTARU_SPECIAL_FLOAT_QUICK(HOTARU_FORMULA)
#undef HOTARU_FORMULA

struct Lgamma {
  HOTARU_INLINE float operator()(float x) const {
    return special_float::lgamma(x);
  }
};
LoopNest::Inner find_lgamma() {
  return &UnaryLoop<Lgamma, float, float, Loops::kDense>::run;
}

struct Trigamma {
  HOTARU_INLINE static bool holds(float x) { return !(x < 0.0f); }
  HOTARU_INLINE static float quick(float x) {
    return special_float::trigamma(x);
  }
  float operator()(float x) const { return formulas::Trigamma<float>{}(x); }
};
LoopNest::Inner find_trigamma() {
  return &UnaryLoop<Trigamma, float, float, Loops::kDense>::run;
}

LoopNest::Inner find_loop(special::Unary which) {
#define HOTARU_CASE(name, ...) \
  case special::k_##name: \
    return &UnaryLoop<Formula_##name, float, float, Loops::kDense>::run;
  switch (which) {
    HOTARU_SPECIAL_FLOAT(HOTARU_CASE)
    HOTARU_SPECIAL_FLOAT_QUICK(HOTARU_CASE)
    default:
      return nullptr;
  }
#undef HOTARU_CASE
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
HWY_EXPORT(find_loop);
HWY_EXPORT(find_lgamma);
HWY_EXPORT(find_trigamma);
LoopNest::Inner lgamma_float_loop() {
  return HWY_DYNAMIC_DISPATCH(find_lgamma)();
}
LoopNest::Inner trigamma_float_loop() {
  return HWY_DYNAMIC_DISPATCH(find_trigamma)();
}
LoopNest::Inner special_float_loop(special::Unary which) {
  return HWY_DYNAMIC_DISPATCH(find_loop)(which);
}
}  // namespace hotaru::cpu
#endif
