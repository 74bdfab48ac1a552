// Parameters of softmax along one dimension, and how it is launched.
//
//   Softmax_<suffix>, LogSoftmax_<suffix>          of `in`
//   SoftmaxGrad_<suffix>, LogSoftmaxGrad_<suffix>  `in` is the gradient,
//                                                  `result` what came out
//   parameters   SoftmaxParams
//   grid         softmax_blocks(p)
//   block        kBlock
//   shared       none at launch; threads wait for each other
//
// The output may be an input. Suffixes are those of params/types.h.
#pragma once

#include <algorithm>

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

struct SoftmaxParams {
  void* out = nullptr;
  const void* in = nullptr;
  const void* result = nullptr;
  uint32_t lines = 1;
  /// Elements of a line, and their strides in bytes.
  uint32_t length = 1;
  int64_t out_step = 0, in_step = 0, result_step = 0;
  /// Threads that share a line, a power of two.
  uint32_t lanes = 1;
  /// Set if neighbouring threads have neighbouring lines.
  bool across = false;
  /// Set if lines lie side by side, at multiples of 16 bytes.
  bool vectors = false;
  /// The other dimensions. Operands: out, in, result.
  Index<3> others;
};

/// Elements that a thread keeps in registers; of longer lines it reads its
/// share twice.
inline constexpr uint32_t kSoftmaxHeld = 16;

constexpr uint32_t softmax_blocks(const SoftmaxParams& p) {
  return uint32_t(ceil_divide(p.lines, kBlock / p.lanes));
}

/// Sets lanes, across and vectors. item: bytes of an element.
inline void plan_softmax(SoftmaxParams& p, int64_t item) {
  const auto magnitude = [](int64_t x) { return x < 0 ? -x : x; };
  p.across = p.lines > 1 && p.length > 1 && p.others.dims > 0 &&
             magnitude(p.others.strides[0][1]) < magnitude(p.in_step);
  // Half of what a thread can hold; a warp reads 32 neighbours, if there are.
  p.lanes = row_lanes(p.length);
  if (p.across) p.lanes = std::min(p.lanes, kBlock / power_from(p.lines, 32));
  const auto address = [](const void* a) {
    return reinterpret_cast<uintptr_t>(a);
  };
  p.vectors = !p.across && p.length > 1 && p.in_step == item &&
              p.out_step == item && (!p.result || p.result_step == item) &&
              int64_t{p.length} * item % 16 == 0 &&
              (address(p.out) | address(p.in) | address(p.result)) % 16 == 0;
  for (int d = 0; d < p.others.dims; ++d)
    for (int k = 0; k < 3; ++k)
      p.vectors = p.vectors && p.others.strides[d][k] % 16 == 0;
}

}  // namespace hotaru::cuda
