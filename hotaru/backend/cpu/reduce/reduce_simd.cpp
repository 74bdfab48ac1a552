#include "hotaru/backend/cpu/reduce/reduce_simd.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/reduce/reduce_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Sum {
  /// True if sums tell of NaN, which combine() looks for, and quick() does not.
  static constexpr bool kIsQuick = false;
  template <class T>
  static constexpr T kIdentity = T(0);
  template <class V>
  static HWY_ATTR V load(V x) {
    return x;
  }
  template <class V>
  static HWY_ATTR V combine(V a, V b) {
    return hn::Add(a, b);
  }
  template <class T>
  static T scalar(T a, T x) {
    return a + x;
  }
};

struct SumSquares : Sum {
  template <class V>
  static HWY_ATTR V load(V x) {
    return hn::Mul(x, x);
  }
  template <class T>
  static T scalar(T a, T x) {
    return a + x * x;
  }
};

struct NanSum : Sum {
  template <class V>
  static HWY_ATTR V load(V x) {
    return hn::IfThenZeroElse(hn::IsNaN(x), x);
  }
};

struct Product : Sum {
  template <class T>
  static constexpr T kIdentity = T(1);
  template <class V>
  static HWY_ATTR V combine(V a, V b) {
    return hn::Mul(a, b);
  }
  template <class T>
  static T scalar(T a, T x) {
    return a * x;
  }
};

struct Max {
  static constexpr bool kIsQuick = true;
  template <class V>
  static HWY_ATTR V quick(V a, V b) {
    return hn::Max(a, b);
  }
  template <class T>
  static constexpr T kIdentity = -std::numeric_limits<T>::infinity();
  template <class V>
  static HWY_ATTR V load(V x) {
    return x;
  }
  template <class V>
  static HWY_ATTR V combine(V a, V b) {
    const V larger = hn::IfThenElse(hn::Gt(a, b), a, b);
    return hn::IfThenElse(hn::IsNaN(a), a, larger);
  }
  template <class T>
  static T scalar(T a, T x) {
    return a > x || std::isnan(a) ? a : x;
  }
};

struct Min : Max {
  template <class V>
  static HWY_ATTR V quick(V a, V b) {
    return hn::Min(a, b);
  }
  template <class T>
  static constexpr T kIdentity = std::numeric_limits<T>::infinity();
  template <class V>
  static HWY_ATTR V combine(V a, V b) {
    const V smaller = hn::IfThenElse(hn::Lt(a, b), a, b);
    return hn::IfThenElse(hn::IsNaN(a), a, smaller);
  }
  template <class T>
  static T scalar(T a, T x) {
    return a < x || std::isnan(a) ? a : x;
  }
};

/// All lanes, the upper half joined to the lower one until one is left.
template <class Op, class D>
HWY_ATTR hn::TFromD<D> fold(D d, hn::Vec<D> v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::GetLane(v);
#else
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return fold<Op>(
        half, Op::combine(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
}

/// The first `end` elements, whole steps of four vectors, into four results.
/// False: there may be NaN among them, and the results are of no use.
template <class Op, class T, class V>
HWY_ATTR bool quick_steps(const T* x, int64_t end, V (&best)[4]) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  V sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (int64_t i = 0; i < end; i += 4 * lanes) HWY_UNROLL(4)
  for (int u = 0; u < 4; ++u) {
    const V v = hn::LoadU(d, x + i + u * lanes);
    best[u] = Op::quick(best[u], v);
    sum[u] = hn::Add(sum[u], v);
  }
  const V all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return hn::AllFalse(d, hn::IsNaN(all));
}

template <class Op, class T>
HWY_ATTR T reduce_block(const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  auto a = hn::Set(d, Op::template kIdentity<T>);
  auto b = a, c = a, e = a;
  int64_t i = 0;
  if constexpr (Op::kIsQuick) {
    hn::Vec<decltype(d)> best[4] = {a, a, a, a};
    const int64_t end = n / (4 * lanes) * (4 * lanes);
    if (quick_steps<Op>(x, end, best)) {
      i = end;
      a = best[0];
      b = best[1];
      c = best[2];
      e = best[3];
    }
  }
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = Op::combine(a, Op::load(hn::LoadU(d, x + i)));
    b = Op::combine(b, Op::load(hn::LoadU(d, x + i + lanes)));
    c = Op::combine(c, Op::load(hn::LoadU(d, x + i + 2 * lanes)));
    e = Op::combine(e, Op::load(hn::LoadU(d, x + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes)
    a = Op::combine(a, Op::load(hn::LoadU(d, x + i)));
  if (i < n) {
    // The last few, and the identity in the other lanes.
    const auto mask = hn::FirstN(d, size_t(n - i));
    const auto rest = hotaru::HWY_NAMESPACE::load_first(mask, d, x + i);
    const auto identity = hn::Set(d, Op::template kIdentity<T>);
    b = Op::combine(b, Op::load(hn::IfThenElse(mask, rest, identity)));
  }
  return fold<Op>(d, Op::combine(Op::combine(a, b), Op::combine(c, e)));
}

/// Parts side by side in the lanes of vectors.
HWY_ATTR std::complex<float> complex_sum(const float* x, int64_t n) {
  const hn::ScalableTag<float> d;
  constexpr int64_t kLanes = int64_t(hn::MaxLanes(d));
  float parts[2] = {0, 0};
  int64_t i = 0;
  if constexpr (kLanes > 1) {
    auto a = hn::Zero(d), b = a, c = a, e = a;
    for (; i + 4 * kLanes <= 2 * n; i += 4 * kLanes) {
      a = hn::Add(a, hn::LoadU(d, x + i));
      b = hn::Add(b, hn::LoadU(d, x + i + kLanes));
      c = hn::Add(c, hn::LoadU(d, x + i + 2 * kLanes));
      e = hn::Add(e, hn::LoadU(d, x + i + 3 * kLanes));
    }
    HWY_ALIGN float all[kLanes];
    hn::Store(hn::Add(hn::Add(a, b), hn::Add(c, e)), d, all);
    for (int64_t lane = 0; lane < kLanes; ++lane) parts[lane % 2] += all[lane];
  }
  for (; i < 2 * n; ++i) parts[i % 2] += x[i];
  return {parts[0], parts[1]};
}

template <class Op, class T>
HWY_ATTR void join_rows(T* acc, const T* rows, int64_t count, int64_t stride,
                        int64_t width) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t j = 0;
  for (; j + 2 * lanes <= width; j += 2 * lanes) {
    auto a = hn::LoadU(d, acc + j);
    auto b = hn::LoadU(d, acc + j + lanes);
    for (int64_t i = 0; i < count; ++i) {
      const T* row = rows + i * stride + j;
      a = Op::combine(a, Op::load(hn::LoadU(d, row)));
      b = Op::combine(b, Op::load(hn::LoadU(d, row + lanes)));
    }
    hn::StoreU(a, d, acc + j);
    hn::StoreU(b, d, acc + j + lanes);
  }
  for (; j < width; ++j)
    for (int64_t i = 0; i < count; ++i)
      acc[j] = Op::scalar(acc[j], rows[i * stride + j]);
}

#define HOTARU_BLOCK(name, op, type) \
  HWY_ATTR type name##_##type(const type* x, int64_t n) { \
    return reduce_block<op>(x, n); \
  }
#define HOTARU_ROWS(name, op, type) \
  HWY_ATTR void name##_##type(type* acc, const type* rows, int64_t count, \
                              int64_t stride, int64_t width) { \
    join_rows<op>(acc, rows, count, stride, width); \
  }
#define HOTARU_VECTOR_REDUCTIONS(type) \
  HOTARU_BLOCK(sum_block, Sum, type) \
  HOTARU_BLOCK(sum_squares_block, SumSquares, type) \
  HOTARU_BLOCK(nan_sum_block, NanSum, type) \
  HOTARU_BLOCK(product_block, Product, type) \
  HOTARU_BLOCK(max_block, Max, type) \
  HOTARU_BLOCK(min_block, Min, type) \
  HOTARU_ROWS(add_rows, Sum, type) \
  HOTARU_ROWS(add_square_rows, SumSquares, type) \
  HOTARU_ROWS(max_rows, Max, type) \
  HOTARU_ROWS(min_rows, Min, type)
HOTARU_VECTOR_REDUCTIONS(float)
HOTARU_VECTOR_REDUCTIONS(double)
HOTARU_BLOCK(sum_block, Sum, int64_t)
#undef HOTARU_VECTOR_REDUCTIONS
#undef HOTARU_ROWS
#undef HOTARU_BLOCK

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_BLOCK(name, type) \
  HWY_EXPORT(name##_##type); \
  type name(const type* x, int64_t n) { \
    return HWY_DYNAMIC_DISPATCH(name##_##type)(x, n); \
  }
#define HOTARU_ROWS(name, type) \
  HWY_EXPORT(name##_##type); \
  void name(type* acc, const type* rows, int64_t count, int64_t stride, \
            int64_t width) { \
    HWY_DYNAMIC_DISPATCH(name##_##type)(acc, rows, count, stride, width); \
  }
#define HOTARU_VECTOR_REDUCTIONS(type) \
  HOTARU_BLOCK(sum_block, type) \
  HOTARU_BLOCK(sum_squares_block, type) \
  HOTARU_BLOCK(nan_sum_block, type) \
  HOTARU_BLOCK(product_block, type) \
  HOTARU_BLOCK(max_block, type) \
  HOTARU_BLOCK(min_block, type) \
  HOTARU_ROWS(add_rows, type) \
  HOTARU_ROWS(add_square_rows, type) \
  HOTARU_ROWS(max_rows, type) \
  HOTARU_ROWS(min_rows, type)
HOTARU_VECTOR_REDUCTIONS(float)
HOTARU_VECTOR_REDUCTIONS(double)
HOTARU_BLOCK(sum_block, int64_t)
HWY_EXPORT(complex_sum);
std::complex<float> sum_block(const std::complex<float>* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(complex_sum)(reinterpret_cast<const float*>(x),
                                           n);
}
#undef HOTARU_VECTOR_REDUCTIONS
#undef HOTARU_ROWS
#undef HOTARU_BLOCK

}  // namespace hotaru::cpu
#endif
