// The kernel "narrow_rows".
#include "hotaru/backend/common/index/narrow_rows.h"

#include <algorithm>
#include <cstring>

#include "hotaru/backend/common/index/bounds.h"
#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/half.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/threads/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/index/narrow_rows.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(D()));

HWY_ATTR HWY_INLINE auto words_at(const uint8_t* at) {
  const hn::Rebind<int32_t, D> words;
  return hn::PromoteTo(words, hn::LoadU(hn::Rebind<uint8_t, D>(), at));
}

/// n integers of 8 bits.
HWY_ATTR void widen8(const uint8_t* q, int64_t n, float scale, float bias,
                     float* to) {
  const D d;
  const V by = hn::Set(d, scale), more = hn::Set(d, bias);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const V v = hn::ConvertTo(d, words_at(q + i));
    hn::StoreU(hn::MulAdd(v, by, more), d, to + i);
  }
  if (kLanes == 1 || i >= n) return;
  uint8_t rest[kLanes] = {};
  float made[kLanes];
  std::copy(q + i, q + n, rest);
  widen8(rest, kLanes, scale, bias, made);
  std::copy_n(made, n - i, to + i);
}

/// n bytes of two integers each.
HWY_ATTR void widen4(const uint8_t* q, int64_t n, float scale, float bias,
                     float* to) {
  const D d;
  const hn::Rebind<int32_t, D> words;
  const V by = hn::Set(d, scale), more = hn::Set(d, bias);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto both = words_at(q + i);
    const V low = hn::ConvertTo(d, hn::And(both, hn::Set(words, 15)));
    const V high = hn::ConvertTo(d, hn::ShiftRight<4>(both));
    hn::StoreInterleaved2(hn::MulAdd(low, by, more), hn::MulAdd(high, by, more),
                          d, to + 2 * i);
  }
  if (kLanes == 1 || i >= n) return;
  uint8_t rest[kLanes] = {};
  float made[2 * kLanes];
  std::copy(q + i, q + n, rest);
  widen4(rest, kLanes, scale, bias, made);
  std::copy_n(made, 2 * (n - i), to + 2 * i);
}

}  // namespace
}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {
namespace {

HWY_EXPORT(widen8);
HWY_EXPORT(widen4);

void widen_part(const uint8_t* part, int64_t bytes, int64_t bits, float* to) {
  const int64_t count = bytes - narrow_tail(bits);
  if (bits == 8) {
    float tail[2];
    std::memcpy(tail, part + count, sizeof tail);
    return HWY_DYNAMIC_DISPATCH(widen8)(part, count, tail[0], tail[1], to);
  }
  uint16_t tail[2];
  std::memcpy(tail, part + count, sizeof tail);
  HWY_DYNAMIC_DISPATCH(widen4)
  (part, count, float(Half::from_bits(tail[0])),
   float(Half::from_bits(tail[1])), to);
}

void narrow_rows(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &table = call.tensor(1),
               &indices = call.tensor(2);
  const int64_t bits = call.attributes<NarrowRowsAttributes>().bits;
  const int64_t rows = table.size(0), parts = table.size(1),
                bytes = table.size(2), columns = out.size(1);
  const auto* from = table.data<uint8_t>();
  float* to = out.data<float>();
  visit_index(indices, [&]<class I>() {
    const I* index = indices.data<I>();
    for (int64_t i = 0; i < indices.numel(); ++i)
      if (uint64_t(index[i]) >= uint64_t(rows)) [[unlikely]]
        slice_out_of_bounds("index_select", index[i], 0, rows);
    const int64_t grain = kGrainSize / std::max<int64_t>(columns, 1) + 1;
    parallel_for(0, indices.numel(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t part = 0; part < parts; ++part)
          widen_part(from + (int64_t(index[i]) * parts + part) * bytes, bytes,
                     bits, to + i * columns + part * (columns / parts));
    });
  });
}

HOTARU_KERNEL(kCPU, "narrow_rows", narrow_rows);

}  // namespace
}  // namespace hotaru::cpu
#endif
