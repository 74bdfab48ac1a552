// Parameters of convolution and of unfolding, and how they are launched.
//
//   ConvForward_<suffix>   out y of a = x, b = w
//   ConvData_<suffix>      out x of a = y, b = w
//   Im2col_<bytes>         out columns of a = x, by the size of elements
//   Col2im_<suffix>        out x of a = columns
//     grid  a thread for each element of out
//   ConvWeight_<suffix>    out w of a = y, b = x
//     grid  conv_weight_blocks(p), after plan_conv_weight()
//   parameters   ConvParams for all
//   block        kBlock
//   shared       none at launch; threads of ConvWeight wait for each other
//
// Each output is summed in one order, whatever else there is: results are the
// same each time.
#pragma once

#include <bit>

#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

/// See common/conv/conv.h. Three spatial dimensions, of which missing ones are
/// 1 and the outermost. Padded sides are below 2^31.
struct ConvParams {
  void* out = nullptr;
  const void *a = nullptr, *b = nullptr;
  /// Bias of each channel of out, or null.
  const void* bias = nullptr;
  uint32_t numel = 0;
  uint32_t batch = 0;
  Divider x[3], y[3], w[3], stride[3];
  int32_t padding[3] = {}, dilation[3] = {};
  /// Channels that a group has of x, which may be none, and of y.
  uint32_t x_channels = 0, y_channels = 0;
  /// The same as divisors, at least 1.
  Divider in, out_channels, groups;
  /// Threads of a weight, a power of two.
  uint32_t lanes = 1;
};

/// out[n, c, position] += bias[c], of planes that lie one after another.
struct ChannelBiasParams {
  void* out = nullptr;
  const void* bias = nullptr;
  uint32_t numel = 0;
  Divider space, channels;
};

/// Positions of a plane.
constexpr uint32_t volume(const Divider (&side)[3]) {
  return side[0].divisor * side[1].divisor * side[2].divisor;
}

/// Products that a thread sums up at least, where there are so many.
inline constexpr int64_t kConvItems = 8;

constexpr void plan_conv_weight(ConvParams& p) {
  const int64_t threads =
      ceil_divide(int64_t{p.batch} * volume(p.y), kConvItems);
  p.lanes = threads < 1        ? 1
            : threads > kBlock ? kBlock
                               : std::bit_ceil(uint32_t(threads));
}
constexpr uint32_t conv_weight_blocks(const ConvParams& p) {
  return uint32_t(ceil_divide(p.numel, kBlock / p.lanes));
}

}  // namespace hotaru::cuda
