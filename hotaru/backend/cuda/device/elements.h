// The elements of a thread where threads have several each, kBlock apart.
#pragma once

#include "hotaru/backend/cuda/device/kernel.h"

namespace hotaru::cuda {

/// Where elements `first`, `first + kBlock`, ... of `numel` lie, all at once.
/// Those past the end lie where the first of all does: to be read, not stored.
template <int kCount, int kOperands>
HOTARU_DEVICE inline void find_elements(const Index<kOperands>& index,
                                        uint32_t first, uint32_t numel,
                                        int64_t (&at)[kCount][kOperands]) {
  uint32_t i[kCount];
  HOTARU_UNROLL
  for (int n = 0; n < kCount; ++n) {
    const uint32_t position = first + uint32_t(n) * kBlock;
    i[n] = position < numel ? position : 0;
  }
  index.find(i, at);
}

/// f(position, offsets) for these elements, one after another.
template <int kCount, int kOperands, class F>
HOTARU_DEVICE inline void for_elements(const Index<kOperands>& index,
                                       uint32_t first, uint32_t numel,
                                       const F& f) {
  HOTARU_NO_UNROLL
  for (int n = 0; n < kCount; ++n) {
    const uint32_t position = first + uint32_t(n) * kBlock;
    if (position >= numel) return;
    uint32_t i[1] = {position};
    int64_t at[1][kOperands];
    index.find(i, at);
    f(position, at[0]);
  }
}

}  // namespace hotaru::cuda
