// Parameters of scans along one dimension, and how they are launched.
//
//   <Formula>_<suffix>_t   first, where plan.splits > 1: what each chunk comes
//                          to
//   <Formula>_<suffix>     Formula of HOTARU_SCANS in common/reduce/formulas.h
//                          ("RunningSum_f32"), or RunningMax and RunningMin,
//                          which give positions, too; suffix by the dtype of
//                          input and output
//   parameters   ScanParams for both
//   grid         scan_blocks(p) by plan.splits
//   block        kBlock
//   shared       none at launch; threads wait for each other
//
// The output may be the input. Plan and workspace are made as those of
// reductions (params/reduce.h).
#pragma once

#include <bit>

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// A line has `lanes` threads, a power of two, of each of `splits` blocks; a
/// block has kBlock / lanes lines.
struct ScanPlan {
  uint32_t lanes = 1;
  /// Elements of a line that one block takes.
  uint32_t chunk = 0;
  uint32_t splits = 1;
};

struct ScanParams {
  const void* in = nullptr;
  void* out = nullptr;
  /// Positions (int64), of RunningMax and RunningMin.
  void* positions = nullptr;
  /// Totals of chunks, [line][split].
  void* workspace = nullptr;
  uint32_t lines = 1;
  /// Elements of a line, and their strides in bytes.
  int64_t length = 1;
  int64_t in_step = 0, out_step = 0, position_step = 0;
  ScanPlan plan;
  /// The other dimensions. Operands: in, out, positions.
  Index<3> others;
};

/// Elements of a line that a thread has at once.
inline constexpr uint32_t kScanEach = 4;
/// No accumulator is larger.
inline constexpr int64_t kLargestScanned = 16;

constexpr uint32_t scan_blocks(const ScanParams& p) {
  return uint32_t(ceil_divide(p.lines, kBlock / p.plan.lanes));
}
constexpr int64_t workspace_bytes(const ScanParams& p) {
  return p.plan.splits > 1 ? int64_t{p.plan.splits} * p.lines * kLargestScanned
                           : 0;
}

/// sms: processors of the device. Results depend on it by rounding only.
constexpr ScanPlan plan_of(const ScanParams& p, int sms) {
  ScanPlan plan;
  const int64_t room = int64_t{sms} * 8;
  const auto magnitude = [](int64_t x) { return x < 0 ? -x : x; };
  // Neighbouring threads have neighbouring lines where these lie side by side
  // and are enough for all processors; else neighbouring elements of one.
  const bool columns =
      p.others.dims > 0 &&
      magnitude(p.others.strides[0][0]) < magnitude(p.in_step) &&
      ceil_divide(p.lines, kBlock) >= sms;
  if (!columns) {
    const int64_t lanes = ceil_divide(p.length, kScanEach);
    plan.lanes = lanes >= kBlock ? kBlock : std::bit_ceil(uint32_t(lanes));
  }
  const int64_t tile = int64_t{plan.lanes} * kScanEach;
  const int64_t blocks =
      p.lines ? ceil_divide(p.lines, kBlock / plan.lanes) : 1;
  const int64_t parts = p.length / (tile * 4);
  int64_t splits = room / blocks < parts ? room / blocks : parts;
  // A chunk is counted in 32 bits.
  const int64_t least = ceil_divide(p.length, kMostElements / 2);
  if (splits < least) splits = least;
  plan.chunk = uint32_t(p.length);
  if (splits > 1) {
    plan.chunk =
        uint32_t(ceil_divide(ceil_divide(p.length, splits), tile) * tile);
    plan.splits = uint32_t(ceil_divide(p.length, plan.chunk));
  }
  return plan;
}

}  // namespace hotaru::cuda
