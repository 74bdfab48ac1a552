// Where a thread finds rows and columns of gathered operands; see
// params/conv/gather.h.
#pragma once

#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/conv/gather.h"

namespace hotaru::cuda {

/// Where rows `first`, `first + kApart`, ... of the left operand lie: at equal
/// distances. Those behind the end are read as the last one, or the last
/// kUnit, as nobody keeps what becomes of them.
template <uint32_t kApart, uint32_t kUnit = 1>
struct Rows {
  uint32_t first, last, step, offset;

  __device__ Rows(const GatherParams& p, uint32_t batch, uint32_t first)
      : first(first),
        last((p.m - 1) / kUnit * kUnit),
        step(p.left.step),
        offset(batch * uint32_t(p.a_at.batch)) {}
  __device__ Place operator()(uint32_t i) const {
    const uint32_t row = first + i * kApart;
    return {offset + (row < last ? row : last) * step, kOthersMark};
  }
};

/// The same of kCount columns of the right operand, which a table says.
template <uint32_t kApart, uint32_t kCount>
struct Columns {
  Place places[kCount];

  __device__ Columns(const GatherParams& p, uint32_t batch, uint32_t first) {
    HOTARU_UNROLL
    for (uint32_t i = 0; i < kCount; ++i) {
      places[i] = p.right.others[first + i * kApart];
      places[i].offset += batch * uint32_t(p.b_at.batch);
    }
  }
  __device__ Place operator()(uint32_t i) const { return places[i]; }
};

}  // namespace hotaru::cuda
