#include "hotaru/backend/cpu/index/bag_simd.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/index/bag_simd.cpp"
#include "hotaru/backend/cpu/simd/simd.h"
#include "hotaru/backend/cpu/simd/simd_load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using hotaru::HWY_NAMESPACE::load_first;

/// Rows ahead of the one that is added, which are fetched meanwhile.
constexpr int64_t kAhead = 8;

/// kVectors vectors of columns, their sums in registers; of the last one `left`
/// elements.
template <int kVectors, class T>
HWY_INLINE void add_columns(const T* table, int64_t width, const int64_t* rows,
                            int64_t count, int64_t skip, const T* factors,
                            int64_t left, T* sum) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  constexpr int kLast = kVectors - 1;
  const auto rest = hn::FirstN(d, size_t(left));
  decltype(hn::Zero(d)) sums[kVectors];
  HWY_UNROLL(8)
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  for (int64_t p = 0; p < count; ++p) {
    const T* ahead = table + rows[std::min(p + kAhead, count - 1)] * width;
    HWY_UNROLL(8)
    for (int v = 0; v < kVectors; ++v) __builtin_prefetch(ahead + v * lanes);
    if (rows[p] == skip) continue;
    const T* row = table + rows[p] * width;
    const auto factor = hn::Set(d, factors ? factors[p] : T(1));
    HWY_UNROLL(8)
    for (int v = 0; v < kLast; ++v)
      sums[v] = hn::MulAdd(factor, hn::LoadU(d, row + v * lanes), sums[v]);
    const auto last = left == lanes ? hn::LoadU(d, row + kLast * lanes)
                                    : load_first(rest, d, row + kLast * lanes);
    sums[kLast] = hn::MulAdd(factor, last, sums[kLast]);
  }
  HWY_UNROLL(8)
  for (int v = 0; v < kLast; ++v) hn::StoreU(sums[v], d, sum + v * lanes);
  hn::BlendedStore(sums[kLast], rest, d, sum + kLast * lanes);
}

template <class T>
HWY_ATTR void add(const T* table, int64_t width, const int64_t* rows,
                  int64_t count, int64_t skip, const T* factors, T* sum) {
  const int64_t lanes = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  int64_t i = 0;
  for (; i + 8 * lanes <= width; i += 8 * lanes)
    add_columns<8>(table + i, width, rows, count, skip, factors, lanes,
                   sum + i);
  for (; i + 2 * lanes <= width; i += 2 * lanes)
    add_columns<2>(table + i, width, rows, count, skip, factors, lanes,
                   sum + i);
  for (; i < width; i += lanes)
    add_columns<1>(table + i, width, rows, count, skip, factors,
                   std::min(lanes, width - i), sum + i);
}

#define HOTARU_BAG(type) \
  void add_##type(const type* table, int64_t width, const int64_t* rows, \
                  int64_t count, int64_t skip, const type* factors, \
                  type* sum) { \
    add(table, width, rows, count, skip, factors, sum); \
  }
HOTARU_BAG(float)
HOTARU_BAG(double)
#undef HOTARU_BAG

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

#define HOTARU_BAG(type) \
  HWY_EXPORT(add_##type); \
  void sum_rows(const type* table, int64_t width, const int64_t* rows, \
                int64_t count, int64_t skip, const type* factors, type* sum) { \
    HWY_DYNAMIC_DISPATCH(add_##type) \
    (table, width, rows, count, skip, factors, sum); \
  }
HOTARU_BAG(float)
HOTARU_BAG(double)
#undef HOTARU_BAG

}  // namespace hotaru::cpu
#endif
