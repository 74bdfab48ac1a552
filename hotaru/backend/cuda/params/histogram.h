// Parameters of histograms, and how they are launched; see
// common/reduce/histogram.h.
//
//   HistogramCount_<suffix>   adds to `counts`
//   HistogramWeigh_<suffix>   adds weights to `out`
//     grid     any; shared shared_bytes(); threads wait for each other
//   HistogramTargets_<suffix> where the latter does, what is left out staying
//   as
//                             it is (params/index/ordered.h)
//     grid     any
//   HistogramStore_<suffix>   counts to `out`
//     grid     ceil(bins / kBlock)
//
// HistogramParams all of them, with suffixes f32 and f64; blocks have kBlock
// threads.
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// All row-major.
struct HistogramParams {
  void* out = nullptr;
  const void* in = nullptr;
  /// bins + 1, or null where bins divide [low, high].
  const void* edges = nullptr;
  const void* weights = nullptr;
  /// One of each bin.
  unsigned long long* counts = nullptr;
  /// Targets of HistogramTargets, in bytes.
  int64_t* targets = nullptr;
  uint64_t numel = 0;
  int64_t bins = 1;
  double low = 0, high = 0;
  bool equal = false;

  /// Most bins of which each block keeps sums of its own.
  static constexpr int64_t kSharedBins = 4096;
  constexpr bool shared() const { return bins <= kSharedBins; }
  /// Shared memory for sums of so many bytes.
  constexpr uint32_t shared_bytes(uint32_t item) const {
    return shared() ? uint32_t(bins) * item : 0;
  }
};
/// Elements that a thread takes before there are more blocks of them.
inline constexpr int64_t kHistogramEach = 8;

}  // namespace hotaru::cuda
