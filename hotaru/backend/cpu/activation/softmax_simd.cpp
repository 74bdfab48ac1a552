#include "hotaru/backend/cpu/activation/softmax_simd.h"

#include <cmath>
#include <limits>

#include "hotaru/backend/cpu/reduce/reduce_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/activation/softmax_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: it, too, is compiled for each target.
#include "hotaru/backend/cpu/activation/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int kRows, class T>
HWY_ATTR void softmax_group(const T* x, T* y, int64_t n) {
  const hn::ScalableTag<T> d;
  T factors[kRows];
  exp_group<kRows>(x, n, n, factors,
                   [&](int r, int64_t i, auto count, auto e)
                       HWY_ATTR { store(e, d, y + r * n + i, count); });
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      T* at = y + r * n + i;
      store(hn::Mul(load(d, at, count), hn::Set(d, factors[r])), d, at, count);
    }
  });
}

template <class T>
HWY_ATTR void softmax(const T* x, T* y, int64_t rows, int64_t n) {
  // Longer rows have enough to do with themselves.
  const int64_t together = n <= 1024 ? rows / 4 * 4 : 0;
  for (int64_t r = 0; r < together; r += 4)
    softmax_group<4>(x + r * n, y + r * n, n);
  for (int64_t r = together; r < rows; ++r)
    softmax_group<1>(x + r * n, y + r * n, n);
}

template <class T>
HWY_ATTR void log_softmax(const T* x, T* y, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto largest = hn::Set(d, max_block(x, n));
  auto sum = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    const auto e = exp_negative(d, hn::Sub(load(d, x + i, count), largest));
    sum = hn::Add(sum, first(d, e, count, hn::Zero(d)));
  });
  const auto log_sum = hn::Set(d, std::log(total<T>(d, sum)));
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    const auto shifted = hn::Sub(load(d, x + i, count), largest);
    store(hn::Sub(shifted, log_sum), d, y + i, count);
  });
}

template <class D>
HWY_INLINE hn::Vec<D> larger(D, hn::Vec<D> a, hn::Vec<D> b) {
  const auto max = hn::IfThenElse(hn::Gt(a, b), a, b);
  return hn::IfThenElse(hn::IsNaN(a), a, max);
}

/// A vector's worth of columns at a time: every step reads whole cache lines.
template <bool kLog, class T>
HWY_ATTR void columns(const T* x, int64_t xs, T* y, int64_t ys, int64_t n,
                      int64_t width) {
  const hn::ScalableTag<T> d;
  for_vectors<T>(width, [&](int64_t j, auto count) HWY_ATTR {
    const T* from = x + j;
    T* to = y + j;
    auto largest = hn::Set(d, -std::numeric_limits<T>::infinity());
    for (int64_t i = 0; i < n; ++i)
      largest = larger(d, largest, load(d, from + i * xs, count));
    auto sum = hn::Zero(d);
    for (int64_t i = 0; i < n; ++i) {
      const auto shifted = hn::Sub(load(d, from + i * xs, count), largest);
      const auto e = exp_negative(d, shifted);
      sum = hn::Add(sum, e);
      store(kLog ? shifted : e, d, to + i * ys, count);
    }
    // The logarithm has no vector form here that gives NaN and infinity.
    HWY_ALIGN T last[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(sum, d, last);
    for (size_t k = 0; k < hn::Lanes(d); ++k)
      last[k] = kLog ? std::log(last[k]) : T(1) / last[k];
    const auto factor = hn::Load(d, last);
    for (int64_t i = 0; i < n; ++i) {
      const auto v = load(d, to + i * ys, count);
      store(kLog ? hn::Sub(v, factor) : hn::Mul(v, factor), d, to + i * ys,
            count);
    }
  });
}

template <class T>
HWY_ATTR void softmax_backward(const T* g, const T* y, T* dx, int64_t n) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    sum = hn::MulAdd(load(d, g + i, count), load(d, y + i, count), sum);
  });
  const auto all = hn::Set(d, total<T>(d, sum));
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    const auto centred = hn::Sub(load(d, g + i, count), all);
    store(hn::Mul(centred, load(d, y + i, count)), d, dx + i, count);
  });
}

template <class T>
HWY_ATTR void log_softmax_backward(const T* g, const T* y, T* dx, int64_t n) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    sum = hn::Add(load(d, g + i, count), sum);
  });
  const auto all = hn::Set(d, total<T>(d, sum));
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    const auto p = exp_negative(d, load(d, y + i, count));
    store(hn::NegMulAdd(p, all, load(d, g + i, count)), d, dx + i, count);
  });
}

/// The gradient of neighbouring columns, a vector's worth at a time.
template <bool kLog, class T>
HWY_ATTR void backward_columns(const T* g, int64_t gs, const T* y, int64_t ys,
                               T* dx, int64_t ds, int64_t n, int64_t width) {
  const hn::ScalableTag<T> d;
  for_vectors<T>(width, [&](int64_t j, auto count) HWY_ATTR {
    auto all = hn::Zero(d);
    for (int64_t i = 0; i < n; ++i) {
      const auto grad = load(d, g + j + i * gs, count);
      all = kLog ? hn::Add(grad, all)
                 : hn::MulAdd(grad, load(d, y + j + i * ys, count), all);
    }
    for (int64_t i = 0; i < n; ++i) {
      const auto grad = load(d, g + j + i * gs, count);
      const auto result = load(d, y + j + i * ys, count);
      store(kLog ? hn::NegMulAdd(exp_negative(d, result), all, grad)
                 : hn::Mul(hn::Sub(grad, all), result),
            d, dx + j + i * ds, count);
    }
  });
}

#define HOTARU_SOFTMAX(type) \
  HWY_ATTR void softmax_##type(const type* x, type* y, int64_t rows, \
                               int64_t n) { \
    softmax(x, y, rows, n); \
  } \
  HWY_ATTR void log_softmax_##type(const type* x, type* y, int64_t n) { \
    log_softmax(x, y, n); \
  } \
  HWY_ATTR void softmax_columns_##type(const type* x, int64_t xs, type* y, \
                                       int64_t ys, int64_t n, int64_t width) { \
    columns<false>(x, xs, y, ys, n, width); \
  } \
  HWY_ATTR void log_softmax_columns_##type(const type* x, int64_t xs, type* y, \
                                           int64_t ys, int64_t n, \
                                           int64_t width) { \
    columns<true>(x, xs, y, ys, n, width); \
  } \
  HWY_ATTR void softmax_backward_##type(const type* g, const type* y, \
                                        type* dx, int64_t n) { \
    softmax_backward(g, y, dx, n); \
  } \
  HWY_ATTR void log_softmax_backward_##type(const type* g, const type* y, \
                                            type* dx, int64_t n) { \
    log_softmax_backward(g, y, dx, n); \
  } \
  HWY_ATTR void softmax_backward_columns_##type( \
      const type* g, int64_t gs, const type* y, int64_t ys, type* dx, \
      int64_t ds, int64_t n, int64_t width) { \
    backward_columns<false>(g, gs, y, ys, dx, ds, n, width); \
  } \
  HWY_ATTR void log_softmax_backward_columns_##type( \
      const type* g, int64_t gs, const type* y, int64_t ys, type* dx, \
      int64_t ds, int64_t n, int64_t width) { \
    backward_columns<true>(g, gs, y, ys, dx, ds, n, width); \
  }
HOTARU_SOFTMAX(float)
HOTARU_SOFTMAX(double)
#undef HOTARU_SOFTMAX

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_SOFTMAX(type) \
  HWY_EXPORT(softmax_##type); \
  HWY_EXPORT(log_softmax_##type); \
  HWY_EXPORT(softmax_columns_##type); \
  HWY_EXPORT(log_softmax_columns_##type); \
  HWY_EXPORT(softmax_backward_##type); \
  HWY_EXPORT(log_softmax_backward_##type); \
  HWY_EXPORT(softmax_backward_columns_##type); \
  HWY_EXPORT(log_softmax_backward_columns_##type); \
  void softmax_rows(const type* x, type* y, int64_t rows, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(softmax_##type)(x, y, rows, n); \
  } \
  void log_softmax_row(const type* x, type* y, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(log_softmax_##type)(x, y, n); \
  } \
  void softmax_columns(const type* x, int64_t xs, type* y, int64_t ys, \
                       int64_t n, int64_t width) { \
    HWY_DYNAMIC_DISPATCH(softmax_columns_##type)(x, xs, y, ys, n, width); \
  } \
  void log_softmax_columns(const type* x, int64_t xs, type* y, int64_t ys, \
                           int64_t n, int64_t width) { \
    HWY_DYNAMIC_DISPATCH(log_softmax_columns_##type)(x, xs, y, ys, n, width); \
  } \
  void softmax_backward_row(const type* g, const type* y, type* dx, \
                            int64_t n) { \
    HWY_DYNAMIC_DISPATCH(softmax_backward_##type)(g, y, dx, n); \
  } \
  void log_softmax_backward_row(const type* g, const type* y, type* dx, \
                                int64_t n) { \
    HWY_DYNAMIC_DISPATCH(log_softmax_backward_##type)(g, y, dx, n); \
  } \
  void softmax_backward_columns(const type* g, int64_t gs, const type* y, \
                                int64_t ys, type* dx, int64_t ds, int64_t n, \
                                int64_t width) { \
    HWY_DYNAMIC_DISPATCH(softmax_backward_columns_##type) \
    (g, gs, y, ys, dx, ds, n, width); \
  } \
  void log_softmax_backward_columns(const type* g, int64_t gs, const type* y, \
                                    int64_t ys, type* dx, int64_t ds, \
                                    int64_t n, int64_t width) { \
    HWY_DYNAMIC_DISPATCH(log_softmax_backward_columns_##type) \
    (g, gs, y, ys, dx, ds, n, width); \
  }
HOTARU_SOFTMAX(float)
HOTARU_SOFTMAX(double)
#undef HOTARU_SOFTMAX

}  // namespace hotaru::cpu
#endif
