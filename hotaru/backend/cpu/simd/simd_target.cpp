#include "hotaru/backend/cpu/simd/simd_target.h"

#include <hwy/targets.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace hotaru {
namespace {

/// Before the first kernel chooses, since choices are kept.
[[maybe_unused]] const bool limit_applied = [] {
  const char* text = std::getenv("HOTARU_SIMD");
  const std::string_view limit = text ? text : "";
  constexpr int64_t kAvx512 = HWY_AVX3 | HWY_AVX3_DL;
  constexpr int64_t kOlder = HWY_SSE4 | HWY_SSSE3;
  if (limit == "avx2") hwy::DisableTargets(kAvx512);
  if (limit == "baseline") hwy::DisableTargets(kAvx512 | HWY_AVX2 | kOlder);
  return true;
}();

}  // namespace

std::string simd_target_name() {
  // The lowest bit of those supported and compiled is the best one.
  constexpr int64_t kCompiled =
      HWY_AVX3 | HWY_AVX2 | HWY_NEON | HWY_EMU128 | HWY_SCALAR;
  const int64_t usable =
      (hwy::SupportedTargets() | HWY_STATIC_TARGET) & kCompiled;
  return hwy::TargetName(usable & -usable);
}

}  // namespace hotaru
