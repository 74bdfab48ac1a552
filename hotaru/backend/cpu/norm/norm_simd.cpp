#include "hotaru/backend/cpu/norm/norm_simd.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/norm/norm_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: it, too, is compiled for each target.
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// f(load, vector number mod 4, i) for each vector from element i on, where
/// load(p) gives p[i], ...; the last one's lanes beyond n are `rest`.
template <class T, class V, class F>
HWY_INLINE void for_vectors(int64_t n, V rest, const F& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto whole = [&](const T* p)
                         HOTARU_SIMD_LAMBDA { return hn::LoadU(d, p); };
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    HWY_UNROLL(4)
    for (int u = 0; u < 4; ++u) f(whole, u, i + u * lanes);
  }
  for (; i + lanes <= n; i += lanes) f(whole, 0, i);
  if (i == n) return;
  const auto mask = hn::FirstN(d, size_t(n - i));
  f(
      [&](const T* p) HOTARU_SIMD_LAMBDA {
        return hn::IfThenElse(
            mask, hotaru::HWY_NAMESPACE::load_first(mask, d, p), rest);
      },
      1, i);
}

template <class D, class V>
HWY_INLINE hn::TFromD<D> total(D d, const V (&sums)[4]) {
  return hn::GetLane(hn::SumOfLanes(
      d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

/// A multiple of every vector's lanes.
constexpr int64_t kBlock = 1 << 15;

/// y = f(vector of x, weights, biases), where those are vectors too.
template <class T, class F>
HWY_INLINE void for_scaled(const T* x, T* y, int64_t n, const F& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  for_vectors<T>(
      n, hn::Zero(d), [&](auto load, int, int64_t i) HOTARU_SIMD_LAMBDA {
        const auto v = f(load, load(x + i), i);
        if (i + lanes <= n)
          hn::StoreU(v, d, y + i);
        else
          hn::BlendedStore(v, hn::FirstN(d, size_t(n - i)), d, y + i);
      });
}

template <class T>
HWY_ATTR void norm(const T* x, T* y, int64_t n, const T* weight, const T* bias,
                   int64_t inner, T eps, T* mean_out, T* rstd_out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const V zero = hn::Zero(d);
  const T count = T(n);
  // Blocks are added up in double: a row may have millions of elements.
  double sum = 0, left = 0, spread = 0;
  for (int64_t at = 0; at < n; at += kBlock) {
    const T* from = x + at;
    V sums[4] = {zero, zero, zero, zero};
    for_vectors<T>(std::min(kBlock, n - at), zero,
                   [&](auto load, int u, int64_t i) HOTARU_SIMD_LAMBDA {
                     sums[u] = hn::Add(sums[u], load(from + i));
                   });
    sum += double(total(d, sums));
  }
  // A first mean, whose rounding the second pass makes up for.
  const T rough = T(sum) / count;
  const V centre = hn::Set(d, rough);
  for (int64_t at = 0; at < n; at += kBlock) {
    const T* from = x + at;
    V rests[4] = {zero, zero, zero, zero};
    V squares[4] = {zero, zero, zero, zero};
    for_vectors<T>(std::min(kBlock, n - at), centre,
                   [&](auto load, int u, int64_t i) HOTARU_SIMD_LAMBDA {
                     const V v = hn::Sub(load(from + i), centre);
                     rests[u] = hn::Add(rests[u], v);
                     squares[u] = hn::MulAdd(v, v, squares[u]);
                   });
    left += double(total(d, rests));
    spread += double(total(d, squares));
  }
  const T rest = T(left) / count;
  const T variance = T(spread) / count - rest * rest;
  const T mean = rough + rest;
  const T rstd = T(1) / std::sqrt(variance + eps);
  *mean_out = mean;
  *rstd_out = rstd;
  const V middle = hn::Set(d, mean), scale = hn::Set(d, rstd);
  if (inner == 1)
    return for_scaled(x, y, n,
                      [&](auto load, V v, int64_t i) HOTARU_SIMD_LAMBDA {
                        v = hn::Mul(hn::Sub(v, middle), scale);
                        if (weight) v = hn::Mul(v, load(weight + i));
                        return bias ? hn::Add(v, load(bias + i)) : v;
                      });
  if (!weight && !bias) inner = n;
  for (int64_t c = 0; c * inner < n; ++c) {
    const V w = hn::Set(d, weight ? weight[c] : T(1));
    const V b = hn::Set(d, bias ? bias[c] : T(0));
    for_scaled(x + c * inner, y + c * inner, inner,
               [&](auto, V v, int64_t) HOTARU_SIMD_LAMBDA {
                 v = hn::Mul(hn::Sub(v, middle), scale);
                 if (weight) v = hn::Mul(v, w);
                 return bias ? hn::Add(v, b) : v;
               });
  }
}

struct Sums {
  double plain = 0, centred = 0;
};

/// Sums of g w and of g w (x - mean); w may be null.
template <class T>
HWY_ATTR Sums gradient_sums(const T* g, const T* x, const T* w, int64_t n,
                            T mean) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const V zero = hn::Zero(d), middle = hn::Set(d, mean);
  Sums out;
  for (int64_t at = 0; at < n; at += kBlock) {
    V plain[4] = {zero, zero, zero, zero};
    V centred[4] = {zero, zero, zero, zero};
    for_vectors<T>(std::min(kBlock, n - at), zero,
                   [&](auto load, int u, int64_t i) HOTARU_SIMD_LAMBDA {
                     V v = load(g + at + i);
                     if (w) v = hn::Mul(v, load(w + at + i));
                     plain[u] = hn::Add(plain[u], v);
                     const V z = hn::Sub(load(x + at + i), middle);
                     centred[u] = hn::MulAdd(v, z, centred[u]);
                   });
    out.plain += double(total(d, plain));
    out.centred += double(total(d, centred));
  }
  return out;
}

template <class T>
HWY_ATTR void row_grad(const T* g, const T* x, T* to, int64_t n,
                       const T* weight, int64_t inner, T mean, T rstd) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const V middle = hn::Set(d, mean), scale = hn::Set(d, rstd);
  const bool one_each = inner == 1 && weight;
  if (!weight || one_each) inner = n;  // one piece, whose weights are no number
  Sums sums;
  for (int64_t c = 0; c * inner < n; ++c) {
    const Sums some = gradient_sums(g + c * inner, x + c * inner,
                                    one_each ? weight : nullptr, inner, mean);
    const double w = weight && !one_each ? double(weight[c]) : 1;
    sums.plain += w * some.plain;
    sums.centred += w * some.centred;
  }
  const V shift = hn::Set(d, T(sums.plain / double(n)));
  const V slope =
      hn::Set(d, T(sums.centred * double(rstd) * double(rstd) / double(n)));
  for (int64_t c = 0; c * inner < n; ++c) {
    const T* from = g + c * inner;
    const V w = hn::Set(d, weight && !one_each ? weight[c] : T(1));
    for_scaled(x + c * inner, to + c * inner, inner,
               [&](auto load, V v, int64_t i) HOTARU_SIMD_LAMBDA {
                 V grad = load(from + i);
                 if (weight)
                   grad = hn::Mul(grad, one_each ? load(weight + i) : w);
                 v = hn::NegMulAdd(hn::Sub(v, middle), slope,
                                   hn::Sub(grad, shift));
                 return hn::Mul(v, scale);
               });
  }
}

template <class T>
HWY_ATTR void add_row(const T* g, const T* x, int64_t n, int64_t inner, T mean,
                      T rstd, T* weights, T* biases) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const V middle = hn::Set(d, mean), scale = hn::Set(d, rstd);
  if (inner == 1) {
    for_scaled(g, biases, n, [&](auto load, V v, int64_t i) HOTARU_SIMD_LAMBDA {
      return hn::Add(v, load(biases + i));
    });
    return for_scaled(
        g, weights, n, [&](auto load, V v, int64_t i) HOTARU_SIMD_LAMBDA {
          const V z = hn::Mul(hn::Sub(load(x + i), middle), scale);
          return hn::MulAdd(v, z, load(weights + i));
        });
  }
  // A plane's elements are summed in lanes: one by one, planes of thousands
  // would lose four digits.
  for (int64_t c = 0; c * inner < n; ++c) {
    const Sums sums =
        gradient_sums<T>(g + c * inner, x + c * inner, nullptr, inner, mean);
    biases[c] += T(sums.plain);
    weights[c] += T(sums.centred * double(rstd));
  }
}

HWY_ATTR void norm_float(const float* x, float* y, int64_t n, const float* w,
                         const float* b, int64_t inner, float eps, float* mean,
                         float* rstd) {
  norm(x, y, n, w, b, inner, eps, mean, rstd);
}
HWY_ATTR void norm_double(const double* x, double* y, int64_t n,
                          const double* w, const double* b, int64_t inner,
                          double eps, double* mean, double* rstd) {
  norm(x, y, n, w, b, inner, eps, mean, rstd);
}

#define HOTARU_NORM_GRADIENTS(type) \
  HWY_ATTR void row_grad_##type(const type* g, const type* x, type* to, \
                                int64_t n, const type* weight, int64_t inner, \
                                type mean, type rstd) { \
    row_grad(g, x, to, n, weight, inner, mean, rstd); \
  } \
  HWY_ATTR void add_row_##type(const type* g, const type* x, int64_t n, \
                               int64_t inner, type mean, type rstd, \
                               type* weights, type* biases) { \
    add_row(g, x, n, inner, mean, rstd, weights, biases); \
  }
HOTARU_NORM_GRADIENTS(float)
HOTARU_NORM_GRADIENTS(double)
#undef HOTARU_NORM_GRADIENTS

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(norm_float);
HWY_EXPORT(norm_double);
#define HOTARU_NORM(type) \
  void norm_row(const type* x, type* y, int64_t n, const type* weight, \
                const type* bias, int64_t inner, type eps, type* mean, \
                type* rstd) { \
    HWY_DYNAMIC_DISPATCH(norm_##type) \
    (x, y, n, weight, bias, inner, eps, mean, rstd); \
  }
HOTARU_NORM(float)
HOTARU_NORM(double)
#undef HOTARU_NORM

#define HOTARU_NORM_GRADIENTS(type) \
  HWY_EXPORT(row_grad_##type); \
  HWY_EXPORT(add_row_##type); \
  void norm_row_grad(const type* g, const type* x, type* to, int64_t n, \
                     const type* weight, int64_t inner, type mean, \
                     type rstd) { \
    HWY_DYNAMIC_DISPATCH(row_grad_##type) \
    (g, x, to, n, weight, inner, mean, rstd); \
  } \
  void add_norm_row(const type* g, const type* x, int64_t n, int64_t inner, \
                    type mean, type rstd, type* weights, type* biases) { \
    HWY_DYNAMIC_DISPATCH(add_row_##type) \
    (g, x, n, inner, mean, rstd, weights, biases); \
  }
HOTARU_NORM_GRADIENTS(float)
HOTARU_NORM_GRADIENTS(double)
#undef HOTARU_NORM_GRADIENTS

}  // namespace hotaru::cpu
#endif
