#include "hotaru/backend/cpu/distance/difference_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/distance/difference_sums.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using hotaru::HWY_NAMESPACE::load_first;

/// In two sums, since additions wait for each other.
template <bool kSquares, class T>
HWY_INLINE T add_up(const T* x, const T* y, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);
  const auto add = [&](auto& sum, auto from, auto other) HOTARU_SIMD_LAMBDA {
    const auto difference = hn::Sub(from, other);
    if constexpr (kSquares)
      sum = hn::MulAdd(difference, difference, sum);
    else
      sum = hn::Add(sum, hn::Abs(difference));
  };
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    add(even, hn::LoadU(d, x + i), hn::LoadU(d, y + i));
    add(odd, hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes));
  }
  if (i + lanes <= n) {
    add(even, hn::LoadU(d, x + i), hn::LoadU(d, y + i));
    i += lanes;
  }
  if (i < n) {
    const auto rest = hn::FirstN(d, size_t(n - i));
    add(odd, load_first(rest, d, x + i), load_first(rest, d, y + i));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

template <class T>
HWY_ATTR void add_rows(bool squares, const T* x, const T* y, int64_t rows,
                       int64_t n, T* out) {
  if (squares)
    for (int64_t r = 0; r < rows; ++r) out[r] = add_up<true>(x, y + r * n, n);
  else
    for (int64_t r = 0; r < rows; ++r) out[r] = add_up<false>(x, y + r * n, n);
}

#define HOTARU_SUMS(type) \
  void add_rows_##type(bool squares, const type* x, const type* y, \
                       int64_t rows, int64_t n, type* out) { \
    add_rows(squares, x, y, rows, n, out); \
  }
HOTARU_SUMS(float)
HOTARU_SUMS(double)
#undef HOTARU_SUMS

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_SUMS(type) \
  HWY_EXPORT(add_rows_##type); \
  void sum_differences(bool squares, const type* x, const type* y, \
                       int64_t rows, int64_t n, type* out) { \
    HWY_DYNAMIC_DISPATCH(add_rows_##type)(squares, x, y, rows, n, out); \
  }
HOTARU_SUMS(float)
HOTARU_SUMS(double)
#undef HOTARU_SUMS

}  // namespace hotaru::cpu
#endif
