// Elements at indices: what reading and writing there have in common.
#pragma once

#include "hotaru/backend/cuda/device/elements.h"
#include "hotaru/backend/cuda/device/errors.h"
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/index/gather.h"

namespace hotaru::cuda {

/// f(position, part, whole) for each element of the thread, in bytes from the
/// starts; whole is negative where the index is out of range. All indices are
/// under way before the first element is.
template <class F>
__device__ inline void for_places(const IndexedParams& p, const F& f) {
  const uint32_t first = blockIdx.x * kStridedItems + threadIdx.x;
  int64_t at[kStridedEach][3];
  find_elements(p.at, first, p.numel, at);
  int64_t index[kStridedEach];
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n) {
    const char* from = static_cast<const char*>(p.index) + at[n][2];
    index[n] = p.wide ? *reinterpret_cast<const int64_t*>(from)
                      : *reinterpret_cast<const int32_t*>(from);
  }
  HOTARU_UNROLL
  for (uint32_t n = 0; n < kStridedEach; ++n) {
    const uint32_t position = first + n * kBlock;
    if (position >= p.numel) return;
    int64_t to = index[n];
    if (to < 0 && p.wrap) to += p.size;
    const bool inside = uint64_t(to) < uint64_t(p.size);
    if (!inside) report_error(p.errors, 0, index[n], p.size);
    f(position, at[n][0], inside ? at[n][1] + to * p.step : int64_t{-1});
  }
}

/// f(part, whole) for their addresses; whole is null where the index is out of
/// range.
template <class F>
__device__ inline void for_indexed(const IndexedParams& p, const F& f) {
  for_places(p, [&](uint32_t, int64_t part, int64_t whole) {
    f(static_cast<char*>(p.part) + part,
      whole < 0 ? nullptr : static_cast<char*>(p.whole) + whole);
  });
}

}  // namespace hotaru::cuda
