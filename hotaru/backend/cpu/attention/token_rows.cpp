#include "hotaru/backend/cpu/attention/token_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/attention/token_rows.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

// Below simd.h, which chooses the target.
#include "hotaru/backend/cpu/matmul/tile-inl.h"
#include "hotaru/backend/cpu/simd/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(D()));

HWY_ATTR HWY_INLINE V load(const float* at) {
  return hn::LoadU(D(), at);
}
HWY_ATTR HWY_INLINE V load(const BFloat16* at) {
  return hotaru::HWY_NAMESPACE::load_bf16(D(), at);
}
HWY_ATTR HWY_INLINE V load(const Half* at) {
  const hn::Rebind<hwy::float16_t, D> halves;
  const hn::RebindToUnsigned<decltype(halves)> bits;
  return hn::PromoteTo(
      D(), hn::BitCast(halves,
                       hn::LoadU(bits, reinterpret_cast<const uint16_t*>(at))));
}

// Bytes ahead of what is read that are fetched.
constexpr int64_t kAhead = 4096;

template <class T>
HWY_ATTR HWY_INLINE V load_on(const T* at) {
  __builtin_prefetch(reinterpret_cast<const char*>(at) + kAhead);
  return load(at);
}

template <class T>
HWY_ATTR void scores(const float* query, const T* keys, int64_t stride,
                     int64_t count, int64_t n, float* out) {
  const D d;
  const auto rest = [&](int64_t t, int64_t i) {
    float sum = 0;
    for (; i < n; ++i) sum += query[i] * float(keys[t * stride + i]);
    return sum;
  };
  int64_t t = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; t + 4 <= count; t += 4) {
    const T* at = keys + t * stride;
    V a = hn::Zero(d), b = a, c = a, e = a;
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      const V q = hn::LoadU(d, query + i);
      a = hn::MulAdd(q, load_on(at + i), a);
      b = hn::MulAdd(q, load_on(at + stride + i), b);
      c = hn::MulAdd(q, load_on(at + 2 * stride + i), c);
      e = hn::MulAdd(q, load_on(at + 3 * stride + i), e);
    }
    const hn::CappedTag<float, 4> four;
    hn::StoreU(hotaru::HWY_NAMESPACE::four_sums(d, a, b, c, e), four, out + t);
    if (i < n)
      for (int64_t r = 0; r < 4; ++r) out[t + r] += rest(t + r, i);
  }
#endif
  for (; t < count; ++t) {
    V sum = hn::Zero(d);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      sum =
          hn::MulAdd(hn::LoadU(d, query + i), load(keys + t * stride + i), sum);
    out[t] = hn::GetLane(hn::SumOfLanes(d, sum)) + rest(t, i);
  }
}

/// kCount vectors of columns.
template <int kCount, class T>
HWY_ATTR void columns(const float* weights, const T* values, int64_t stride,
                      int64_t count, float* out) {
  const D d;
  // Even and odd rows apart: additions to one sum wait for each other.
  V even[kCount], odd[kCount];
  HWY_UNROLL(4)
  for (int v = 0; v < kCount; ++v) {
    even[v] = hn::LoadU(d, out + v * kLanes);
    odd[v] = hn::Zero(d);
  }
  int64_t t = 0;
  for (; t + 2 <= count; t += 2) {
    const T* at = values + t * stride;
    const V a = hn::Set(d, weights[t]), b = hn::Set(d, weights[t + 1]);
    HWY_UNROLL(4)
    for (int v = 0; v < kCount; ++v) {
      even[v] = hn::MulAdd(a, load_on(at + v * kLanes), even[v]);
      odd[v] = hn::MulAdd(b, load_on(at + stride + v * kLanes), odd[v]);
    }
  }
  if (t < count) {
    const V a = hn::Set(d, weights[t]);
    HWY_UNROLL(4)
    for (int v = 0; v < kCount; ++v)
      even[v] = hn::MulAdd(a, load(values + t * stride + v * kLanes), even[v]);
  }
  HWY_UNROLL(4)
  for (int v = 0; v < kCount; ++v)
    hn::StoreU(hn::Add(even[v], odd[v]), d, out + v * kLanes);
}

template <class T>
HWY_ATTR void values(const float* weights, const T* rows, int64_t stride,
                     int64_t count, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes)
    columns<4>(weights, rows + i, stride, count, out + i);
  for (; i + kLanes <= n; i += kLanes)
    columns<1>(weights, rows + i, stride, count, out + i);
  for (; i < n; ++i)
    for (int64_t t = 0; t < count; ++t)
      out[i] += weights[t] * float(rows[t * stride + i]);
}

}  // namespace

#define HOTARU_TOKEN(type) \
  void scores_##type(const float* query, const type* keys, int64_t stride, \
                     int64_t count, int64_t n, float* out) { \
    scores(query, keys, stride, count, n, out); \
  } \
  void values_##type(const float* weights, const type* rows, int64_t stride, \
                     int64_t count, int64_t n, float* out) { \
    values(weights, rows, stride, count, n, out); \
  }
HOTARU_TOKEN(float)
HOTARU_TOKEN(Half)
HOTARU_TOKEN(BFloat16)
#undef HOTARU_TOKEN

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_TOKEN(type) \
  HWY_EXPORT(scores_##type); \
  HWY_EXPORT(values_##type); \
  void token_scores(const float* query, const type* keys, int64_t stride, \
                    int64_t count, int64_t n, float* scores) { \
    HWY_DYNAMIC_DISPATCH(scores_##type) \
    (query, keys, stride, count, n, scores); \
  } \
  void token_values(const float* weights, const type* values, int64_t stride, \
                    int64_t count, int64_t n, float* out) { \
    HWY_DYNAMIC_DISPATCH(values_##type) \
    (weights, values, stride, count, n, out); \
  }
HOTARU_TOKEN(float)
HOTARU_TOKEN(Half)
HOTARU_TOKEN(BFloat16)
#undef HOTARU_TOKEN

}  // namespace hotaru::cpu
#endif
