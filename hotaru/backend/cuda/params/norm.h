// Parameters of normalisation, and how it is launched.
//
// x is `rows` rows of `columns` elements. Element j of row r has the weight
// number r % period * step + j / inner (backend/common/norm/norm.h). Channels
// [N, C, S] are C weights: rows N C of S elements, period C, step 1, inner S.
//
//   RowNorm_<suffix>             out, mean, rstd of x, weight, bias
//   RowNormGrad_<suffix>         out of grad, x, mean, rstd, weight
//     grid  norm_blocks(p), after plan_rows()
//   ChannelMoments_<suffix>[_2]  mean, rstd and running values of x
//   ChannelSums_<suffix>[_2]     weight_grad, bias_grad, sums of grad and x;
//                                the mean is that of a row, or, where there are
//                                sums, of a channel
//     grid  weight_blocks(p) by p.splits, after plan_weights(); the second
//           kernel second_weight_blocks(p), where p.splits > 1
//   ChannelRunning_<suffix>      mean, rstd from running values
//     grid  ceil(weights / kBlock)
//   ChannelScale_<suffix>        out of x, mean, rstd, weight, bias
//   ChannelGrad_<suffix>         out of grad, x, mean, rstd, weight, sums
//     grid  element_blocks(p), after plan_elements()
//   parameters   NormParams for all
//   block        kBlock
//   shared       none at launch; threads of all but the last three wait for
//                each other
#pragma once

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// Parameters that are of OpMath<T> rather than of T.
enum Wide : uint32_t {
  kWideWeight = 1,
  kWideBias = 2,
  kWideRunningMean = 4,
  kWideRunningVar = 8,
  kWideWeightGrad = 16,
  kWideBiasGrad = 32,
};

struct NormParams {
  void* out = nullptr;
  const void *x = nullptr, *grad = nullptr;
  /// OpMath<T>, of each row or channel.
  void *mean = nullptr, *rstd = nullptr;
  /// Null: 1 and 0, none, not wanted.
  const void *weight = nullptr, *bias = nullptr;
  void *running_mean = nullptr, *running_var = nullptr;
  void *weight_grad = nullptr, *bias_grad = nullptr;
  /// Sums of each channel, OpMath<T>: of the gradient, and of the gradient
  /// times what the input was normalised to.
  void* sums = nullptr;
  /// Partial results of kNormAccumulator bytes, [split][weight].
  void* workspace = nullptr;
  uint32_t rows = 1, columns = 1, weights = 1;
  /// Elements of a weight.
  uint32_t count = 1;
  uint32_t wide = 0;
  Divider period, inner;
  /// 0: rows have the same weights.
  uint32_t step = 0;
  bool training = false;
  double eps = 0, momentum = 0;
  // How threads share the work.
  uint32_t lanes = 1, splits = 1, chunk = 0;
  bool across = false, vectors = false;
};

inline constexpr int64_t kNormAccumulator = 24;
/// Elements of a row that a thread keeps in registers at most; half as many
/// doubles.
inline constexpr uint32_t kNormHeld = 16;
/// Elements that a thread of the kernels without rows has.
inline constexpr uint32_t kNormItems = 8;

inline bool norm_aligned(const NormParams& p) {
  const auto address = [](const void* a) {
    return reinterpret_cast<uintptr_t>(a);
  };
  return (address(p.out) | address(p.x) | address(p.grad)) % 16 == 0;
}

/// item: bytes of an element.
inline void plan_rows(NormParams& p, int64_t item) {
  p.lanes = row_lanes(p.columns);
  p.vectors = norm_aligned(p) && p.columns * item % 16 == 0;
}
constexpr uint32_t norm_blocks(const NormParams& p) {
  return uint32_t(ceil_divide(p.rows, kBlock / p.lanes));
}

/// sms: processors of the device. Results depend on it by rounding only.
constexpr void plan_weights(NormParams& p, int sms) {
  constexpr uint32_t kEach = 8;
  p.across = p.inner.divisor == 1 && p.weights > 1;
  p.lanes = power_from(ceil_divide(p.count, kEach),
                       p.across ? kBlock / power_from(p.weights, 32) : kBlock);
  const int64_t blocks = ceil_divide(p.weights, kBlock / p.lanes);
  const int64_t room = int64_t{sms} * 8 / blocks;
  const int64_t parts = p.count / (int64_t{p.lanes} * kEach * 2);
  const int64_t splits = room < parts ? room : parts;
  p.splits = 1;
  p.chunk = p.count;
  if (splits > 1) {
    p.chunk = uint32_t(ceil_divide(p.count, splits));
    p.splits = uint32_t(ceil_divide(p.count, p.chunk));
  }
}
constexpr uint32_t weight_blocks(const NormParams& p) {
  return uint32_t(ceil_divide(p.weights, kBlock / p.lanes));
}
constexpr uint32_t second_weight_lanes(const NormParams& p) {
  return power_from(p.splits, kBlock);
}
constexpr uint32_t second_weight_blocks(const NormParams& p) {
  return uint32_t(ceil_divide(p.weights, kBlock / second_weight_lanes(p)));
}
constexpr int64_t workspace_bytes(const NormParams& p) {
  return p.splits > 1 ? int64_t{p.splits} * p.weights * kNormAccumulator : 0;
}

inline void plan_elements(NormParams& p, int64_t item) {
  p.vectors = norm_aligned(p) && p.inner.divisor * item % 16 == 0;
}
constexpr uint32_t element_blocks(const NormParams& p) {
  return uint32_t(
      ceil_divide(int64_t{p.rows} * p.columns, kBlock * kNormItems));
}

}  // namespace hotaru::cuda
