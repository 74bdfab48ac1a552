#include "hotaru/backend/cpu/softmax_simd.h"

#include <cmath>

#include "hotaru/backend/cpu/reduce_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/softmax_simd.cpp"
#include "hotaru/backend/cpu/simd.h"
// After simd.h: it, too, is compiled for each target.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(i, count) for each vector of a row; count is below a vector's
/// length for the last one only.
template <class T, class F>
HWY_INLINE void for_vectors(int64_t n, const F& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i, lanes);
  if (i < n) f(i, n - i);
}

/// The first `count` elements, then zeros.
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x, int64_t count) {
  if (count == int64_t(hn::Lanes(d))) return hn::LoadU(d, x);
  HWY_ALIGN T part[HWY_MAX_BYTES / sizeof(T)] = {};
  for (int64_t j = 0; j < count; ++j) part[j] = x[j];
  return hn::Load(d, part);
}

template <class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* y, int64_t count) {
  if (count == int64_t(hn::Lanes(d))) return hn::StoreU(v, d, y);
  HWY_ALIGN T part[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, part);
  for (int64_t j = 0; j < count; ++j) y[j] = part[j];
}

/// v with zeros behind its first `count` lanes.
template <class D>
HWY_INLINE hn::Vec<D> first(D d, hn::Vec<D> v, int64_t count) {
  return hn::IfThenElseZero(hn::FirstN(d, size_t(count)), v);
}

template <class T, class V, class D>
HWY_INLINE T total(D d, V v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

template <class T>
HWY_ATTR void softmax(const T* x, T* y, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto largest = hn::Set(d, max_block(x, n));
  auto sum = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const auto e = hn::Exp(d, hn::Sub(load(d, x + i, count), largest));
    store(e, d, y + i, count);
    sum = hn::Add(sum, first(d, e, count));
  });
  const auto all = hn::Set(d, total<T>(d, sum));
  for_vectors<T>(n, [&](int64_t i, int64_t count) HWY_ATTR {
    store(hn::Div(load(d, y + i, count), all), d, y + i, count);
  });
}

template <class T>
HWY_ATTR void log_softmax(const T* x, T* y, int64_t n) {
  const hn::ScalableTag<T> d;
  const T max = max_block(x, n);
  const auto largest = hn::Set(d, max);
  auto sum = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const auto e = hn::Exp(d, hn::Sub(load(d, x + i, count), largest));
    sum = hn::Add(sum, first(d, e, count));
  });
  const auto log_sum = hn::Set(d, std::log(total<T>(d, sum)));
  for_vectors<T>(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const auto shifted = hn::Sub(load(d, x + i, count), largest);
    store(hn::Sub(shifted, log_sum), d, y + i, count);
  });
}

template <class T>
HWY_ATTR void softmax_backward(const T* g, const T* y, T* dx, int64_t n) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, int64_t count) HWY_ATTR {
    sum = hn::MulAdd(load(d, g + i, count), load(d, y + i, count), sum);
  });
  const auto all = hn::Set(d, total<T>(d, sum));
  for_vectors<T>(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const auto centred = hn::Sub(load(d, g + i, count), all);
    store(hn::Mul(centred, load(d, y + i, count)), d, dx + i, count);
  });
}

template <class T>
HWY_ATTR void log_softmax_backward(const T* g, const T* y, T* dx, int64_t n) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, int64_t count) HWY_ATTR {
    sum = hn::Add(load(d, g + i, count), sum);
  });
  const auto all = hn::Set(d, total<T>(d, sum));
  for_vectors<T>(n, [&](int64_t i, int64_t count) HWY_ATTR {
    const auto p = hn::Exp(d, load(d, y + i, count));
    store(hn::NegMulAdd(p, all, load(d, g + i, count)), d, dx + i, count);
  });
}

#define HOTARU_ROWS(type) \
  HWY_ATTR void softmax_##type(const type* x, type* y, int64_t n) { \
    softmax(x, y, n); \
  } \
  HWY_ATTR void log_softmax_##type(const type* x, type* y, int64_t n) { \
    log_softmax(x, y, n); \
  } \
  HWY_ATTR void softmax_backward_##type(const type* g, const type* y, \
                                        type* dx, int64_t n) { \
    softmax_backward(g, y, dx, n); \
  } \
  HWY_ATTR void log_softmax_backward_##type(const type* g, const type* y, \
                                            type* dx, int64_t n) { \
    log_softmax_backward(g, y, dx, n); \
  }
HOTARU_ROWS(float)
HOTARU_ROWS(double)
#undef HOTARU_ROWS

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_ROWS(type) \
  HWY_EXPORT(softmax_##type); \
  HWY_EXPORT(log_softmax_##type); \
  HWY_EXPORT(softmax_backward_##type); \
  HWY_EXPORT(log_softmax_backward_##type); \
  void softmax_row(const type* x, type* y, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(softmax_##type)(x, y, n); \
  } \
  void log_softmax_row(const type* x, type* y, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(log_softmax_##type)(x, y, n); \
  } \
  void softmax_backward_row(const type* g, const type* y, type* dx, \
                            int64_t n) { \
    HWY_DYNAMIC_DISPATCH(softmax_backward_##type)(g, y, dx, n); \
  } \
  void log_softmax_backward_row(const type* g, const type* y, type* dx, \
                                int64_t n) { \
    HWY_DYNAMIC_DISPATCH(log_softmax_backward_##type)(g, y, dx, n); \
  }
HOTARU_ROWS(float)
HOTARU_ROWS(double)
#undef HOTARU_ROWS

}  // namespace hotaru::cpu
#endif
