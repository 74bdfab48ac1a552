// Code that texts of attention with elementwise calls behind it are written
// with; see fused/attention_text.h.
#pragma once

#include "hotaru/backend/cuda/device/pointwise/fused.h"
#include "hotaru/backend/cuda/params/fused_attention.h"

namespace hotaru::cuda {

/// Neighbours in a row of the result, kLength at most: where they lie in the
/// operands of the elementwise calls.
struct Neighbours {
  const FusedAttentionParams& p;
  uint32_t batch, head, row, column;

  /// How many of kLength exist.
  template <uint32_t kLength>
  __device__ uint32_t count() const {
    const uint32_t width = p.attention.value_width;
    return column >= width             ? 0
           : width - column >= kLength ? kLength
                                       : width - column;
  }
  __device__ char* address(uint32_t k) const {
    const FusedAttentionParams::Steps& step = p.steps[k];
    return static_cast<char*>(p.address[k]) + batch * step.batch +
           head * step.head + row * step.row + column * step.column;
  }
  template <class T, uint32_t kLength>
  __device__ void fetch(Vector<T, kLength>& v, uint32_t k) const {
    const char* from = address(k);
    const uint32_t real = count<kLength>();
    if (p.vectors >> k & 1 && real == kLength) {
      v = load_vector<Vector<T, kLength>>(from);
      return;
    }
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kLength; ++j)
      v.at[j] = *reinterpret_cast<const Stored<T>*>(
          from + (j < real ? j : 0) * p.steps[k].column);
  }
  template <class T, uint32_t kLength>
  __device__ void put(const Vector<T, kLength>& v, uint32_t k) const {
    char* to = address(k);
    const uint32_t real = count<kLength>();
    if (p.vectors >> k & 1 && real == kLength) return store_vector(to, v);
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kLength; ++j)
      if (j < real)
        *reinterpret_cast<Stored<T>*>(to + j * p.steps[k].column) = v.at[j];
  }
};

}  // namespace hotaru::cuda
