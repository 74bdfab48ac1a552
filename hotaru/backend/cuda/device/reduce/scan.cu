// Scans along one dimension: sums, products, sums of exponentials and extremes
// up to each element. See params/scan.h for how threads share a line.
#include "hotaru/backend/common/reduce/formulas.h"
#include "hotaru/backend/cuda/device/block.h"
#include "hotaru/backend/cuda/params/scan.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

/// A formula's step joins two stretches as well as a stretch and an element.
template <class S, class T>
struct Running {
  using Acc = typename S::Acc;
  __device__ static Acc identity() { return S::kFirst; }
  __device__ static Acc combine(Acc a, Acc b) { return S::step(a, b); }
  __device__ static Acc from(OpMath<T> x, int64_t) { return Acc(x); }
  __device__ static void store(const ScanParams&, char* out, char*,
                               const Acc& acc) {
    cuda::store<T>(out, OpMath<T>(acc));
  }
};

/// The last of the best elements so far, or the last NaN.
template <class T, bool kLargest>
struct RunningExtreme {
  using M = OpMath<T>;
  static constexpr uint32_t kNowhere = ~0u;
  /// The position in two words, so that nothing is between it and the value.
  struct Acc {
    M value;
    uint32_t low, high;
  };
  __device__ static Acc identity() { return {M{}, kNowhere, kNowhere}; }
  /// b comes after a.
  __device__ static Acc combine(const Acc& a, const Acc& b) {
    if (b.high == kNowhere) return a;
    if (a.high == kNowhere || formulas::not_a_number(b.value)) return b;
    const bool wins = kLargest ? b.value >= a.value : b.value <= a.value;
    return wins ? b : a;
  }
  __device__ static Acc from(M x, int64_t position) {
    return {x, uint32_t(position), uint32_t(position >> 32)};
  }
  __device__ static void store(const ScanParams& p, char* out, char* position,
                               const Acc& acc) {
    cuda::store<T>(out, acc.value);
    if (p.positions)
      cuda::store<int64_t>(position,
                           int64_t(uint64_t{acc.high} << 32 | acc.low));
  }
};

template <class R, class T, bool kTotals>
__device__ void scan(const ScanParams& p) {
  using Acc = typename R::Acc;
  static_assert(sizeof(Acc) <= kLargestScanned);
  alignas(16) __shared__ unsigned char memory[kBlock * sizeof(Acc)];
  auto* shared = reinterpret_cast<Acc*>(memory);
  const ScanPlan plan = p.plan;
  const uint32_t lane = threadIdx.x % plan.lanes;
  const uint32_t line =
      blockIdx.x * (kBlock / plan.lanes) + threadIdx.x / plan.lanes;
  const bool real = line < p.lines;
  uint32_t i[1] = {real ? line : 0};
  int64_t at[1][3];
  p.others.find(i, at);
  const char* in = static_cast<const char*>(p.in) + at[0][0];
  char* out = static_cast<char*>(p.out) + at[0][1];
  char* positions = static_cast<char*>(p.positions) + at[0][2];
  // Without splits there is no workspace, and no pointer to move.
  const int64_t before_line =
      plan.splits > 1 ? int64_t{real ? line : 0} * plan.splits : 0;
  auto* totals = static_cast<Acc*>(p.workspace) + before_line;

  Acc carry = R::identity();
  if (!kTotals && plan.splits > 1) {
    // The chunks before this one, each lane a stretch of them.
    const uint32_t each = (blockIdx.y + plan.lanes - 1) / plan.lanes;
    Acc mine = R::identity(), before;
    for (uint32_t s = lane * each; s < (lane + 1) * each && s < blockIdx.y; ++s)
      mine = R::combine(mine, totals[s]);
    join_lanes<R>(mine, lane, plan.lanes, shared, before, carry);
  }
  // Within the chunk.
  const int64_t begin = int64_t{blockIdx.y} * plan.chunk;
  const int64_t rest = p.length - begin;
  const uint32_t end = rest < plan.chunk ? uint32_t(rest) : plan.chunk;
  in += begin * p.in_step;
  out += begin * p.out_step;
  positions += begin * p.position_step;
  const uint32_t tile = plan.lanes * kScanEach;
  HOTARU_NO_UNROLL
  for (uint32_t from = 0; from < end; from += tile) {
    const uint32_t first = from + lane * kScanEach;
    OpMath<T> x[kScanEach];
    HOTARU_UNROLL
    for (uint32_t j = 0; j < kScanEach; ++j)
      x[j] = load<T>(in + int64_t(first + j < end ? first + j : 0) * p.in_step);
    Acc upto[kScanEach];
    upto[0] = first < end ? R::from(x[0], begin + first) : R::identity();
    HOTARU_UNROLL
    for (uint32_t j = 1; j < kScanEach; ++j)
      upto[j] = first + j < end
                    ? R::combine(upto[j - 1], R::from(x[j], begin + first + j))
                    : upto[j - 1];
    Acc before = R::identity(), all = upto[kScanEach - 1];
    if (plan.lanes > 1)
      join_lanes<R>(upto[kScanEach - 1], lane, plan.lanes, shared, before, all);
    if (!kTotals) {
      before = R::combine(carry, before);
      HOTARU_UNROLL
      for (uint32_t j = 0; j < kScanEach; ++j)
        if (real && first + j < end)
          R::store(p, out + int64_t(first + j) * p.out_step,
                   positions + int64_t(first + j) * p.position_step,
                   R::combine(before, upto[j]));
    }
    carry = R::combine(carry, all);
  }
  if (kTotals && real && lane == 0) totals[blockIdx.y] = carry;
}

}  // namespace

#define HOTARU_SCAN_KERNELS(symbol, T, ...) \
  HOTARU_CUDA_BLOCK_KERNEL(symbol, ScanParams, scan<__VA_ARGS__, T, false>) \
  HOTARU_CUDA_BLOCK_KERNEL(symbol##_t, ScanParams, scan<__VA_ARGS__, T, true>)
#define HOTARU_SCAN_OF(F, T, suffix) \
  HOTARU_SCAN_KERNELS(F##_##suffix, T, Running<formulas::F<T>, T>)
#define HOTARU_SCAN(kernel, name, Types, F) \
  HOTARU_DEVICE_TYPES_##Types(HOTARU_SCAN_OF, F)
HOTARU_SCANS(HOTARU_SCAN)

// With as many registers as three blocks on a processor have: four would spill.
#define HOTARU_EXTREME_KERNELS(symbol, T, ...) \
  HOTARU_CUDA_CROWDED_KERNEL(symbol, 3, ScanParams, \
                             scan<__VA_ARGS__, T, false>) \
  HOTARU_CUDA_BLOCK_KERNEL(symbol##_t, ScanParams, scan<__VA_ARGS__, T, true>)
#define HOTARU_EXTREMES(unused, T, suffix) \
  HOTARU_EXTREME_KERNELS(RunningMax_##suffix, T, RunningExtreme<T, true>) \
  HOTARU_EXTREME_KERNELS(RunningMin_##suffix, T, RunningExtreme<T, false>)
HOTARU_DEVICE_TYPES_RealAndBoolTypes(HOTARU_EXTREMES, )

}  // namespace hotaru::cuda
