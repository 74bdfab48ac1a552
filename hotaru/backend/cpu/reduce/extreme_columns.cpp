#include "hotaru/backend/cpu/reduce/extreme_columns.h"

#include <algorithm>

#include "hotaru/backend/cpu/independent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/reduce/extreme_columns.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

/// Whole rows, one after the other, as memory has them.
template <bool kLargest>
void find_in_rows(ExtremeColumns& out, const float* x, int64_t n,
                  int64_t stride, int64_t count) {
  float* const best = out.best;
  int32_t* const at = out.row;
  std::copy_n(x, count, best);
  std::fill_n(at, count, 0);
  for (int64_t i = 1; i < n; ++i) {
    x += stride;
    const auto row = int32_t(i);
    HOTARU_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) {
      const float a = x[j], b = best[j];
      // NaN satisfies neither comparison: it is taken, and stays.
      const bool takes = !(kLargest ? a <= b : a >= b) & (b == b);
      best[j] = takes ? a : b;
      at[j] = takes ? row : at[j];
    }
  }
}

void find(ExtremeColumns& out, bool largest, const float* x, int64_t n,
          int64_t stride, int64_t count) {
  if (largest)
    find_in_rows<true>(out, x, n, stride, count);
  else
    find_in_rows<false>(out, x, n, stride, count);
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(find);

void ExtremeColumns::find(bool largest, const float* x, int64_t n,
                          int64_t stride, int64_t count) {
  HWY_DYNAMIC_DISPATCH(find)(*this, largest, x, n, stride, count);
}

}  // namespace hotaru::cpu
#endif
