#include "hotaru/backend/cpu/activation/softmax_simd.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "hotaru/backend/cpu/reduce/reduce_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/activation/softmax_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: it, too, is compiled for each target.
#include "hotaru/backend/cpu/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// f(i, lanes) for each whole vector of n elements, with lanes as a compile
/// time mark of a full vector, then f(i, count) for the rest.
struct Whole {};
template <class T, class F>
HWY_INLINE void for_vectors(int64_t n, const F& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i, Whole{});
  if (i < n) f(i, n - i);
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x, Whole) {
  return hn::LoadU(d, x);
}
/// The first `count` elements, then zeros.
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x, int64_t count) {
  HWY_ALIGN T part[HWY_MAX_BYTES / sizeof(T)] = {};
  for (int64_t j = 0; j < count; ++j) part[j] = x[j];
  return hn::Load(d, part);
}

template <class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* y, Whole) {
  hn::StoreU(v, d, y);
}
template <class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* y, int64_t count) {
  HWY_ALIGN T part[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, part);
  for (int64_t j = 0; j < count; ++j) y[j] = part[j];
}

/// v with `rest` behind its first `count` lanes.
template <class D>
HWY_INLINE hn::Vec<D> first(D, hn::Vec<D> v, Whole, hn::Vec<D>) {
  return v;
}
template <class D>
HWY_INLINE hn::Vec<D> first(D d, hn::Vec<D> v, int64_t count, hn::Vec<D> rest) {
  return hn::IfThenElse(hn::FirstN(d, size_t(count)), v, rest);
}

/// e^x for the differences to a maximum, x <= 0; 0 below the normal range, NaN
/// for NaN.
template <class D>
HWY_INLINE hn::Vec<D> exp_negative(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  if constexpr (std::is_same_v<T, double>) {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
  } else {
    const auto log2e = hn::Set(d, 1.44269504f);
    const auto n = hn::Round(hn::Mul(x, log2e));
    const auto r = hotaru::HWY_NAMESPACE::simd_minus_ln2(d, x, n);
    const auto p = hotaru::HWY_NAMESPACE::simd_exp_polynomial(d, r);
    const auto y = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
    const hn::RebindToSigned<D> di;
    const auto power =
        hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
    // A product, as NaN stays NaN whatever it was converted to.
    const auto scaled = hn::Mul(y, hn::BitCast(d, power));
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0f)), scaled);
  }
}

template <class T, class V, class D>
HWY_INLINE T total(D d, V v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

/// kRows rows at a time: what one waits for, the others compute meanwhile.
template <int kRows, class T>
HWY_ATTR void softmax_group(const T* x, T* y, int64_t n) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  // With a NaN they may be anything: the sums become NaN.
  V largest[kRows], sum[kRows], scale[kRows];
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) largest[r] = lowest, sum[r] = hn::Zero(d);
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      const auto v = load(d, x + r * n + i, count);
      largest[r] = hn::Max(largest[r], first(d, v, count, lowest));
    }
  });
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r)
    largest[r] = hn::Set(d, hn::GetLane(hn::MaxOfLanes(d, largest[r])));
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      const auto v = hn::Sub(load(d, x + r * n + i, count), largest[r]);
      const auto e = exp_negative(d, v);
      store(e, d, y + r * n + i, count);
      sum[r] = hn::Add(sum[r], first(d, e, count, hn::Zero(d)));
    }
  });
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r)
    scale[r] = hn::Set(d, T(1) / total<T>(d, sum[r]));
  for_vectors<T>(n, [&](int64_t i, auto count) HWY_ATTR {
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      T* at = y + r * n + i;
      store(hn::Mul(load(d, at, count), scale[r]), d, at, count);
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
  }
HOTARU_SOFTMAX(float)
HOTARU_SOFTMAX(double)
#undef HOTARU_SOFTMAX

}  // namespace hotaru::cpu
#endif
