#include "hotaru/backend/cpu/pool/pool_simd.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/pool/pool_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V greater(V old, V x) {
  return hn::IfThenElse(hn::Or(hn::Gt(x, old), hn::IsNaN(x)), x, old);
}

/// As many elements as there are, up to a vector.
template <class D, class T>
HWY_INLINE void store(hn::Vec<D> x, D d, T* to, int64_t left) {
  if (left >= int64_t(hn::Lanes(d)))
    hn::StoreU(x, d, to);
  else
    hn::BlendedStore(x, hn::FirstN(d, size_t(left)), d, to);
}

/// The greatest of each column in `room`, with padding before and behind.
template <class T>
HWY_INLINE void columns(const T* x, int64_t rows, int64_t pitch, int64_t width,
                        int64_t before, int64_t behind, T* HWY_RESTRICT room) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const T low = -std::numeric_limits<T>::infinity();
  T* to = std::fill_n(room, before, low);
  int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    auto best = hn::Set(d, low);
    for (int64_t r = 0; r < rows; ++r)
      best = greater(best, hn::LoadU(d, x + r * pitch + i));
    hn::StoreU(best, d, to + i);
  }
  if (i < width) {
    const auto rest = hn::FirstN(d, size_t(width - i));
    auto best = hn::Set(d, low);
    for (int64_t r = 0; r < rows; ++r)
      best = greater(
          best, hotaru::HWY_NAMESPACE::load_first(rest, d, x + r * pitch + i));
    hn::StoreU(best, d, to + i);  // beyond the row there is room
  }
  std::fill_n(to + width, behind, low);
}

/// The greatest of a vector's every kStride-th element and the next ones of
/// each, up to `count`.
template <int kStride, class D, class T>
HWY_INLINE hn::Vec<D> with_taps(hn::Vec<D> best, D d, const T* HWY_RESTRICT x,
                                int64_t count) {
  hn::Vec<D> a, b, c, e;
  if constexpr (kStride == 2) hn::LoadInterleaved2(d, x, a, b);
  if constexpr (kStride == 3) hn::LoadInterleaved3(d, x, a, b, c);
  if constexpr (kStride == 4) hn::LoadInterleaved4(d, x, a, b, c, e);
  best = greater(best, a);
  if (count > 1) best = greater(best, b);
  if constexpr (kStride > 2)
    if (count > 2) best = greater(best, c);
  if constexpr (kStride > 3)
    if (count > 3) best = greater(best, e);
  return best;
}

/// Windows that begin at every kStride-th column; how many it did. Lanes
/// beyond n read the slack.
template <int kStride, class T>
HWY_INLINE int64_t every_nth(const T* HWY_RESTRICT room, int64_t kernel, T* out,
                             int64_t n) {
#if HWY_TARGET == HWY_SCALAR
  (void)room, (void)kernel, (void)out, (void)n;
  return 0;
#else
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t o = 0;
  for (; o < n; o += lanes) {
    auto best = hn::Set(d, -std::numeric_limits<T>::infinity());
    for (int64_t k = 0; k < kernel; k += kStride)
      best = with_taps<kStride>(best, d, room + kStride * o + k, kernel - k);
    store(best, d, out + o, n - o);
  }
  return n;
#endif
}

template <class T>
HWY_INLINE int64_t every_one(const T* HWY_RESTRICT room, int64_t kernel, T* out,
                             int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t o = 0;
  for (; o < n; o += lanes) {
    auto best = hn::LoadU(d, room + o);
    for (int64_t k = 1; k < kernel; ++k)
      best = greater(best, hn::LoadU(d, room + o + k));
    store(best, d, out + o, n - o);
  }
  return n;
}

template <class T>
void row(const T* x, int64_t rows, int64_t pitch, int64_t width, int64_t kernel,
         int64_t stride, int64_t pad, T* room, T* out, int64_t n) {
  const int64_t reach = (n - 1) * stride + kernel - pad - width;
  columns(x, rows, pitch, width, pad, std::max<int64_t>(0, reach), room);
  int64_t o = 0;
  if (stride == 1) o = every_one(room, kernel, out, n);
  if (stride == 2) o = every_nth<2>(room, kernel, out, n);
  if (stride == 3) o = every_nth<3>(room, kernel, out, n);
  if (stride == 4) o = every_nth<4>(room, kernel, out, n);
  for (; o < n; ++o) {
    const T* window = room + o * stride;
    T best = window[0];
    for (int64_t k = 1; k < kernel; ++k)
      best = (window[k] > best) | (window[k] != window[k]) ? window[k] : best;
    out[o] = best;
  }
}

void row_float(const float* x, int64_t rows, int64_t pitch, int64_t width,
               int64_t kernel, int64_t stride, int64_t pad, float* room,
               float* out, int64_t n) {
  row(x, rows, pitch, width, kernel, stride, pad, room, out, n);
}
void row_double(const double* x, int64_t rows, int64_t pitch, int64_t width,
                int64_t kernel, int64_t stride, int64_t pad, double* room,
                double* out, int64_t n) {
  row(x, rows, pitch, width, kernel, stride, pad, room, out, n);
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_POOL(type) \
  HWY_EXPORT(row_##type); \
  void max_pool_row(const type* x, int64_t rows, int64_t pitch, int64_t width, \
                    int64_t kernel, int64_t stride, int64_t pad, type* room, \
                    type* out, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(row_##type) \
    (x, rows, pitch, width, kernel, stride, pad, room, out, n); \
  }
HOTARU_POOL(float)
HOTARU_POOL(double)
#undef HOTARU_POOL

}  // namespace hotaru::cpu
#endif
