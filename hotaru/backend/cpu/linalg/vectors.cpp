#include "hotaru/backend/cpu/linalg/vectors.h"

#include <algorithm>
#include <cmath>

#ifndef HOTARU_NO_FUSED
#error "needs -ffp-contract=off: see hotaru_own_flags in hotaru/CMakeLists.txt"
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/linalg/vectors.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
// After simd.h: it, too, is compiled for each target.
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Complex numbers lie in pairs of lanes. x y is x's real part times y plus x's
// imaginary part times y with its parts exchanged, with signs.

template <class R>
using Tag = hn::ScalableTag<R>;
template <class R>
using Vector = hn::Vec<Tag<R>>;

/// Rows of a matrix that are worked on at a time.
constexpr int kRows = 4;

/// Numbers of T that a vector cannot hold are added up one by one.
template <class T>
constexpr bool kAlone = kIsComplex<T>&& HWY_TARGET == HWY_SCALAR;
template <class T>
constexpr int64_t kParts = kIsComplex<T> ? 2 : 1;

template <class V>
HWY_INLINE V exchanged(V v) {
#if HWY_TARGET == HWY_SCALAR
  return v;
#else
  return hn::Reverse2(hn::DFromV<V>(), v);
#endif
}

/// even in the lanes of real parts, odd in the others.
template <class V>
HWY_INLINE V lanes_of(V even, V odd) {
#if HWY_TARGET == HWY_SCALAR
  return even;
#else
  return hn::OddEven(odd, even);
#endif
}

template <class R>
HWY_INLINE R total(Vector<R> v) {
  return hn::GetLane(hn::SumOfLanes(Tag<R>(), v));
}

/// f(load, store, i) for each vector from element i on of n.
template <class R, class F>
HWY_INLINE void for_vectors(int64_t n, const F& f) {
  const Tag<R> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto load = [&](const R* p)
                        HOTARU_SIMD_LAMBDA { return hn::LoadU(d, p); };
  const auto store = [&](auto v, R* p)
                         HOTARU_SIMD_LAMBDA { hn::StoreU(v, d, p); };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(load, store, i);
  if (i >= n) return;
  const auto mask = hn::FirstN(d, size_t(n - i));
  f(
      [&](const R* p) HOTARU_SIMD_LAMBDA {
        return hotaru::HWY_NAMESPACE::load_first(mask, d, p);
      },
      [&](auto v, R* p) HOTARU_SIMD_LAMBDA { hn::BlendedStore(v, mask, d, p); },
      i);
}

/// Sums of a x: of products lane by lane, and with x's parts exchanged.
template <class T>
struct Sum {
  using V = Vector<Real<T>>;
  V direct, crossed;

  HWY_INLINE void clear() {
    direct = hn::Zero(Tag<Real<T>>());
    crossed = direct;
  }
  HWY_INLINE void add(V a, V x, V x_exchanged) {
    direct = hn::MulAdd(a, x, direct);
    if constexpr (kIsComplex<T>) crossed = hn::MulAdd(a, x_exchanged, crossed);
  }
  HWY_INLINE T value(bool conjugate) const {
    using R = Real<T>;
    if constexpr (kIsComplex<T>) {
      const V minus_direct = lanes_of(direct, hn::Neg(direct));
      const V minus_crossed = lanes_of(crossed, hn::Neg(crossed));
      return conjugate ? T(total<R>(direct), total<R>(minus_crossed))
                       : T(total<R>(minus_direct), total<R>(crossed));
    } else {
      return total<R>(direct);
    }
  }
};

/// A factor x of vectors a, or of conj(a).
template <class T>
struct Factor {
  using V = Vector<Real<T>>;
  V direct, crossed;

  HWY_INLINE void set(T x, bool conjugate) {
    const Tag<Real<T>> d;
    direct = hn::Set(d, std::real(x));
    if constexpr (kIsComplex<T>) {
      const V imag = hn::Set(d, std::imag(x));
      crossed = conjugate ? imag : lanes_of(hn::Neg(imag), imag);
      if (conjugate) direct = lanes_of(direct, hn::Neg(direct));
    }
  }
  HWY_INLINE V add_product(V a, V sum) const {
    sum = hn::MulAdd(a, direct, sum);
    if constexpr (kIsComplex<T>) sum = hn::MulAdd(exchanged(a), crossed, sum);
    return sum;
  }
  /// The compiler is told not to make one operation of the two.
  HWY_INLINE V add_rounded(V a, V sum) const {
    V product = hn::Mul(a, direct);
    if constexpr (kIsComplex<T>)
      product = hn::Add(product, hn::Mul(exchanged(a), crossed));
    return hn::Add(sum, product);
  }
};

template <class T>
HWY_INLINE T conjugate_if(bool yes, T x) {
  return yes ? conjugate(x) : x;
}

template <class T, int kCount>
HWY_INLINE void multiply_rows(int64_t n, const T* a, int64_t lda, const T* x,
                              T* y, bool conjugate) {
  using R = Real<T>;
  Sum<T> sums[kCount];
  for (int i = 0; i < kCount; ++i) sums[i].clear();
  for_vectors<R>(
      n * kParts<T>, [&](auto load, auto, int64_t j) HOTARU_SIMD_LAMBDA {
        const auto xs = load(reinterpret_cast<const R*>(x) + j);
        const auto crossed = kIsComplex<T> ? exchanged(xs) : xs;
        HWY_UNROLL(4)
        for (int i = 0; i < kCount; ++i)
          sums[i].add(load(reinterpret_cast<const R*>(a + i * lda) + j), xs,
                      crossed);
      });
  for (int i = 0; i < kCount; ++i) y[i] = sums[i].value(conjugate);
}

template <class T>
HWY_ATTR void rows_times(int64_t m, int64_t n, const T* a, int64_t lda,
                         const T* x, T* y, bool conjugate) {
  if constexpr (kAlone<T>) {
    for (int64_t i = 0; i < m; ++i) {
      T sum(0);
      for (int64_t j = 0; j < n; ++j)
        sum += conjugate_if(conjugate, a[i * lda + j]) * x[j];
      y[i] = sum;
    }
  } else {
    int64_t i = 0;
    for (; i + kRows <= m; i += kRows)
      multiply_rows<T, kRows>(n, a + i * lda, lda, x, y + i, conjugate);
    for (; i < m; ++i)
      multiply_rows<T, 1>(n, a + i * lda, lda, x, y + i, conjugate);
  }
}

template <class T, int kCount, bool kRounded>
HWY_INLINE void add_some(int64_t n, const T* a, int64_t lda, const T* x, T* y,
                         bool conjugate) {
  using R = Real<T>;
  Factor<T> factors[kCount];
  for (int i = 0; i < kCount; ++i) factors[i].set(x[i], conjugate);
  for_vectors<R>(
      n * kParts<T>, [&](auto load, auto store, int64_t j) HOTARU_SIMD_LAMBDA {
        R* to = reinterpret_cast<R*>(y) + j;
        auto sum = load(to);
        HWY_UNROLL(4)
        for (int i = 0; i < kCount; ++i) {
          const auto as = load(reinterpret_cast<const R*>(a + i * lda) + j);
          sum = kRounded ? factors[i].add_rounded(as, sum)
                         : factors[i].add_product(as, sum);
        }
        store(sum, to);
      });
}

template <class T, bool kRounded>
HWY_INLINE void add_all_rows(int64_t m, int64_t n, const T* a, int64_t lda,
                             const T* x, T* y, bool conjugate) {
  if constexpr (kAlone<T>) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        y[j] += x[i] * conjugate_if(conjugate, a[i * lda + j]);
  } else {
    int64_t i = 0;
    for (; i + kRows <= m; i += kRows)
      add_some<T, kRows, kRounded>(n, a + i * lda, lda, x + i, y, conjugate);
    for (; i < m; ++i)
      add_some<T, 1, kRounded>(n, a + i * lda, lda, x + i, y, conjugate);
  }
}

template <class T>
HWY_ATTR void add_rows(int64_t m, int64_t n, const T* a, int64_t lda,
                       const T* x, T* y, bool conjugate) {
  add_all_rows<T, false>(m, n, a, lda, x, y, conjugate);
}

template <class T>
HWY_ATTR void add_rounded_rows(int64_t m, int64_t n, const T* a, int64_t lda,
                               const T* x, T* y) {
  add_all_rows<T, true>(m, n, a, lda, x, y, false);
}

/// kCount rows of the upper triangle right of the square on the diagonal: y's
/// own elements and those of the columns, with one look at the matrix.
template <class T, int kCount>
HWY_INLINE void hermitian_rows(int64_t n, const T* a, int64_t lda, const T* x,
                               T* y) {
  using R = Real<T>;
  const T* right = a + kCount;
  Sum<T> sums[kCount];
  for (int i = 0; i < kCount; ++i) sums[i].clear();
  Factor<T> factors[kCount];
  for (int i = 0; i < kCount; ++i) factors[i].set(x[i], true);
  for_vectors<R>((n - kCount) * kParts<T>, [&](auto load, auto store,
                                               int64_t j) HOTARU_SIMD_LAMBDA {
    const auto xs = load(reinterpret_cast<const R*>(x + kCount) + j);
    const auto crossed = kIsComplex<T> ? exchanged(xs) : xs;
    R* to = reinterpret_cast<R*>(y + kCount) + j;
    auto sum = load(to);
    HWY_UNROLL(4)
    for (int i = 0; i < kCount; ++i) {
      const auto as = load(reinterpret_cast<const R*>(right + i * lda) + j);
      sums[i].add(as, xs, crossed);
      sum = factors[i].add_product(as, sum);
    }
    store(sum, to);
  });
  for (int i = 0; i < kCount; ++i) {
    y[i] += sums[i].value(false) + std::real(a[i * lda + i]) * x[i];
    for (int j = i + 1; j < kCount; ++j) {
      y[i] += a[i * lda + j] * x[j];
      y[j] += conjugate(a[i * lda + j]) * x[i];
    }
  }
}

template <class T>
HWY_ATTR void hermitian_times(int64_t n, const T* a, int64_t lda, const T* x,
                              T* y) {
  std::fill_n(y, n, T(0));
  if constexpr (kAlone<T>) {
    for (int64_t i = 0; i < n; ++i) {
      y[i] += std::real(a[i * lda + i]) * x[i];
      for (int64_t j = i + 1; j < n; ++j) {
        y[i] += a[i * lda + j] * x[j];
        y[j] += conjugate(a[i * lda + j]) * x[i];
      }
    }
  } else {
    int64_t i = 0;
    for (; i + kRows <= n; i += kRows)
      hermitian_rows<T, kRows>(n - i, a + i * (lda + 1), lda, x + i, y + i);
    for (; i < n; ++i)
      hermitian_rows<T, 1>(n - i, a + i * (lda + 1), lda, x + i, y + i);
  }
}

template <class T>
HWY_ATTR void reflect_rows(int64_t n, T* x, int64_t ldx, T v1, T v2, T tau) {
  T *y = x + ldx, *z = y + ldx;
  const T first = conjugate(v1), second = conjugate(v2), scale = conjugate(tau);
  if constexpr (kAlone<T>) {
    for (int64_t j = 0; j < n; ++j) {
      const T sum = scale * (x[j] + first * y[j] + second * z[j]);
      x[j] -= sum;
      y[j] -= v1 * sum;
      z[j] -= v2 * sum;
    }
  } else {
    using R = Real<T>;
    Factor<T> of_y, of_z, of_sum, to_y, to_z;
    of_y.set(first, false);
    of_z.set(second, false);
    of_sum.set(scale, false);
    to_y.set(-v1, false);
    to_z.set(-v2, false);
    const auto zero = hn::Zero(Tag<R>());
    for_vectors<R>(n * kParts<T>,
                   [&](auto load, auto store, int64_t j) HOTARU_SIMD_LAMBDA {
                     R* xs = reinterpret_cast<R*>(x) + j;
                     R* ys = reinterpret_cast<R*>(y) + j;
                     R* zs = reinterpret_cast<R*>(z) + j;
                     const auto a = load(xs), b = load(ys), c = load(zs);
                     const auto sum = of_sum.add_product(
                         of_z.add_product(c, of_y.add_product(b, a)), zero);
                     store(hn::Sub(a, sum), xs);
                     store(to_y.add_product(sum, b), ys);
                     store(to_z.add_product(sum, c), zs);
                   });
  }
}

/// kWidth vectors of columns, whose turned row stays in registers.
template <class R, int kWidth, class Load, class Store>
HWY_INLINE void rotate_columns(int64_t count, R* q, int64_t ldq, const R* c,
                               const R* s, bool last_first, const Load& load,
                               const Store& store) {
  const Tag<R> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  Vector<R> carried[kWidth];
  R* row = last_first ? q + count * ldq : q;
  const int64_t step = last_first ? -ldq : ldq;
  HWY_UNROLL(4)
  for (int w = 0; w < kWidth; ++w) carried[w] = load(row + w * lanes);
  for (int64_t k = 0; k < count; ++k, row += step) {
    const int64_t i = last_first ? count - 1 - k : k;
    const auto cs = hn::Set(d, c[i]);
    const auto ss = hn::Set(d, last_first ? -s[i] : s[i]);
    HWY_UNROLL(4)
    for (int w = 0; w < kWidth; ++w) {
      const auto next = load(row + step + w * lanes);
      store(hn::MulAdd(ss, next, hn::Mul(cs, carried[w])), row + w * lanes);
      carried[w] = hn::NegMulAdd(ss, carried[w], hn::Mul(cs, next));
    }
  }
  HWY_UNROLL(4)
  for (int w = 0; w < kWidth; ++w) store(carried[w], row + w * lanes);
}

template <class R>
HWY_ATTR int64_t largest(int64_t n, const R* x) {
  const Tag<R> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  auto most = hn::Zero(d);
  for_vectors<R>(n, [&](auto load, auto, int64_t i) HOTARU_SIMD_LAMBDA {
    most = hn::Max(most, hn::Abs(load(x + i)));
  });
  const auto wanted = hn::MaxOfLanes(d, most);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto found = hn::Eq(hn::Abs(hn::LoadU(d, x + i)), wanted);
    if (!hn::AllFalse(d, found)) return i + hn::FindFirstTrue(d, found);
  }
  for (; i < n; ++i)
    if (std::abs(x[i]) == hn::GetLane(wanted)) return i;
  return 0;
}

template <class R>
HWY_ATTR void rotate_rows(int64_t count, int64_t n, R* q, int64_t ldq,
                          const R* c, const R* s, bool last_first) {
  const Tag<R> d;
  const int64_t wide = 4 * int64_t(hn::Lanes(d));
  const auto load = [&](const R* p)
                        HOTARU_SIMD_LAMBDA { return hn::LoadU(d, p); };
  const auto store = [&](auto v, R* p)
                         HOTARU_SIMD_LAMBDA { hn::StoreU(v, d, p); };
  int64_t j = 0;
  for (; j + wide <= n; j += wide)
    rotate_columns<R, 4>(count, q + j, ldq, c, s, last_first, load, store);
  for_vectors<R>(n - j, [&](auto some, auto put, int64_t i) HOTARU_SIMD_LAMBDA {
    rotate_columns<R, 1>(count, q + j + i, ldq, c, s, last_first, some, put);
  });
}

/// SecularPoint::difference of vectors.
template <class R>
struct Differences {
  Vector<R> origin, offset;
  bool squares;

  HWY_INLINE explicit Differences(const SecularPoint<R>& at)
      : origin(hn::Set(Tag<R>(), at.origin)),
        offset(hn::Set(Tag<R>(), at.offset)),
        squares(at.squares) {}
  HWY_INLINE Vector<R> of(Vector<R> d) const {
    const auto near = hn::Sub(hn::Sub(d, origin), offset);
    if (!squares) return near;
    return hn::Mul(near, hn::Add(hn::Add(d, origin), offset));
  }
};

/// i, i + 1, ... below n, else 0: what a masked vector's other lanes must not
/// add is multiplied by zeros of z, so their differences only must not be 0.
template <class R>
HWY_ATTR SecularSums<R> secular_sums(int64_t n, const R* d, const R* z,
                                     const SecularPoint<R>& at) {
  const Tag<R> tag;
  const Differences<R> differences(at);
  const auto zero = hn::Zero(tag), one = hn::Set(tag, R(1));
  auto value = zero, magnitude = zero, slope = zero;
  for_vectors<R>(n, [&](auto load, auto, int64_t i) HOTARU_SIMD_LAMBDA {
    const auto zs = load(z + i);
    auto below = differences.of(load(d + i));
    below = hn::IfThenElse(hn::Eq(zs, zero), one, below);
    const auto ratio = hn::Div(zs, below);
    const auto term = hn::Mul(zs, ratio);
    value = hn::Add(value, term);
    magnitude = hn::Add(magnitude, hn::Abs(term));
    slope = hn::MulAdd(ratio, ratio, slope);
  });
  return {total<R>(value), total<R>(magnitude), total<R>(slope)};
}

template <class R>
HWY_ATTR void secular_ratios(int64_t n, const R* d, const SecularPoint<R>& at,
                             R pole, R* product) {
  const Differences<R> differences(at),
      poles(SecularPoint<R>{pole, R(0), at.squares});
  for_vectors<R>(n, [&](auto load, auto store, int64_t i) HOTARU_SIMD_LAMBDA {
    const auto ds = load(d + i);
    const auto ratio = hn::Div(differences.of(ds), poles.of(ds));
    store(hn::Mul(load(product + i), ratio), product + i);
  });
}

template <class R>
HWY_ATTR R secular_vector(int64_t n, const R* d, const R* z,
                          const SecularPoint<R>& at, R* u) {
  const Tag<R> tag;
  const Differences<R> differences(at);
  const auto zero = hn::Zero(tag), one = hn::Set(tag, R(1));
  auto sum = zero;
  for_vectors<R>(n, [&](auto load, auto store, int64_t i) HOTARU_SIMD_LAMBDA {
    const auto zs = load(z + i);
    auto below = differences.of(load(d + i));
    below = hn::IfThenElse(hn::Eq(zs, zero), one, below);
    const auto us = hn::Div(zs, below);
    store(us, u + i);
    sum = hn::MulAdd(us, us, sum);
  });
  return total<R>(sum);
}

template <class T>
ProductKernels<T> products() {
  return {&rows_times<T>, &add_rows<T>, &add_rounded_rows<T>,
          &hermitian_times<T>, &reflect_rows<T>};
}
template <class R>
LineKernels<R> lines() {
  return {&rotate_rows<R>, &largest<R>, &secular_sums<R>, &secular_ratios<R>,
          &secular_vector<R>};
}

ProductKernels<float> products_float() {
  return products<float>();
}
ProductKernels<double> products_double() {
  return products<double>();
}
ProductKernels<std::complex<float>> products_cfloat() {
  return products<std::complex<float>>();
}
ProductKernels<std::complex<double>> products_cdouble() {
  return products<std::complex<double>>();
}
LineKernels<float> lines_float() {
  return lines<float>();
}
LineKernels<double> lines_double() {
  return lines<double>();
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_TABLE(Table, T, name) \
  HWY_EXPORT(name); \
  template <> \
  const Table<T>& table<Table<T>>() { \
    static const Table<T> chosen = HWY_DYNAMIC_DISPATCH(name)(); \
    return chosen; \
  }
HOTARU_TABLE(ProductKernels, float, products_float)
HOTARU_TABLE(ProductKernels, double, products_double)
HOTARU_TABLE(ProductKernels, std::complex<float>, products_cfloat)
HOTARU_TABLE(ProductKernels, std::complex<double>, products_cdouble)
HOTARU_TABLE(LineKernels, float, lines_float)
HOTARU_TABLE(LineKernels, double, lines_double)
#undef HOTARU_TABLE

}  // namespace hotaru::cpu
#endif
