#include "hotaru/backend/cpu/reduce/extreme_columns.h"

#include <algorithm>

#include "hotaru/backend/cpu/independent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/reduce/extreme_columns.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

/// Whole rows, one after the other, as memory has them.
template <bool kLargest, class T>
void find_in_rows(ExtremeColumns<T>& out, const T* x, int64_t n, int64_t stride,
                  int64_t count) {
  using Row = typename ExtremeColumns<T>::Row;
  T* const best = out.best;
  Row* const at = out.row;
  std::copy_n(x, count, best);
  std::fill_n(at, count, Row(0));
  for (int64_t i = 1; i < n; ++i) {
    x += stride;
    const Row row = static_cast<Row>(i);
    HOTARU_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) {
      const T a = x[j], b = best[j];
      // Of NaN neither comparison holds: it is taken, and stays.
      const bool takes = !(kLargest ? a <= b : a >= b) & (b == b);
      best[j] = takes ? a : b;
      at[j] = takes ? row : at[j];
    }
  }
}

template <class T>
void find(ExtremeColumns<T>& out, bool largest, const T* x, int64_t n,
          int64_t stride, int64_t count) {
  if (largest)
    find_in_rows<true>(out, x, n, stride, count);
  else
    find_in_rows<false>(out, x, n, stride, count);
}

#define HOTARU_FIND(name, T) \
  void name(ExtremeColumns<T>& out, bool largest, const T* x, int64_t n, \
            int64_t stride, int64_t count) { \
    find(out, largest, x, n, stride, count); \
  }
HOTARU_FIND(find_float, float)
#undef HOTARU_FIND

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_FIND(name, T) \
  HWY_EXPORT(name); \
  template <> \
  void ExtremeColumns<T>::find(bool largest, const T* x, int64_t n, \
                               int64_t stride, int64_t count) { \
    HWY_DYNAMIC_DISPATCH(name)(*this, largest, x, n, stride, count); \
  }
HOTARU_FIND(find_float, float)
#undef HOTARU_FIND

}  // namespace hotaru::cpu
#endif
