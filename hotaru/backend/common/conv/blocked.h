// Pictures in blocks of channels, as graphs hand them from one convolution to
// the next, and what the kernels that compute on them are told. One or two
// spatial dimensions only. float32; "blocked_conv" and the pools take bfloat16,
// too.
//
// A blocked picture of C channels is a contiguous tensor
// [N, channel_blocks(C), H, W, kChannelBlock] (H is 1 with one spatial
// dimension): what a pixel has of a block lies together. Channels beyond C are
// zeros: every kernel that writes a blocked picture keeps to that, and the
// kernels that read one count on it.
#pragma once

#include <limits>

#include "hotaru/backend/common/conv/conv.h"

namespace hotaru {

/// Channels of a block, whatever the instruction set.
inline constexpr int64_t kChannelBlock = 16;

/// Blocks of that many channels.
constexpr int64_t channel_blocks(int64_t channels) {
  return (channels + kChannelBlock - 1) / kChannelBlock;
}

// Two kernels change the layout; both read and write a whole tensor:
//   "block_channels"    write blocked, read plain [N, C, H, W] or [N, C, W]
//   "unblock_channels"  write plain, read blocked
// The plain one is row-major, or its channels lie last without gaps.
// "blocked_mean" computes means over H and W: write plain [N, C, 1, 1] (or
// [N, C, 1]), read blocked. "blocked_scale" multiplies all pixels of a channel
// by its number: write blocked, read blocked, read numbers, a blocked picture
// of one pixel. "blocked_max_pool" is "max_pool" (see pool.h) on blocked
// pictures with MaxPoolAttributes of one or two dimensions: write blocked, read
// blocked; "blocked_avg_pool" is "resample" (see resample.h) that averages
// windows, likewise. None but the last two have attributes.

/// How a weight is packed. Operands of "blocked_weight": write packed
/// [blocked_weight_size()], write shift [channel_blocks(O) * kChannelBlock],
/// read w [O, C / groups, kh, kw] or [O, C / groups, kw], read bias [O] or
/// undefined, then read mean, variance, weight and bias [O] of a batch norm in
/// evaluation (the first undefined: none; weight or bias undefined: 1 and 0),
/// which becomes part of both:
///   packed = w * scale          scale = weight / sqrt(variance + eps)
///   shift = bias * scale + (norm bias - mean * scale)
struct BlockedWeightAttributes {
  /// Set for a convolution with groups == C == O.
  bool depthwise = false;
  /// For pictures that are read as they are, in rows.
  bool plain_input = false;
  double eps = 0;
  /// packed is of bfloat16, in pairs of input channels or, with plain_input, of
  /// columns of the kernel, with zeros behind an odd one; not depthwise. There
  /// is room for an even number of blocks of input channels.
  bool pairs = false;
  /// Groups of the convolution; not of the two above. See blocked_groups().
  int64_t groups = 1;
};

/// Tells whether groups of so many inputs and outputs each lie in blocks: as
/// whole ones, or several groups in one, which is multiplied by a matrix of
/// zeros but for theirs.
constexpr bool blocked_groups(int64_t inputs, int64_t outputs) {
  return (inputs % kChannelBlock == 0 && outputs % kChannelBlock == 0) ||
         (inputs == outputs && inputs > 1 && kChannelBlock % inputs == 0);
}

/// The least multiple of `unit` that is not below n.
constexpr int64_t round_up(int64_t n, int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// Elements of a packed weight of those sizes, w's.
constexpr int64_t blocked_weight_size(IntSpan w,
                                      const BlockedWeightAttributes& a) {
  int64_t taps = 1;
  for (size_t i = 2; i < w.size(); ++i) taps *= w[i];
  if (a.plain_input && a.pairs) taps += taps / w.back() * (w.back() % 2);
  const int64_t channels =
      a.depthwise     ? 1
      : a.plain_input ? w[1]
                      : round_up(w[1], (a.pairs ? 2 : 1) * kChannelBlock);
  return channel_blocks(w[0]) * kChannelBlock * channels * taps;
}

// "winograd_weight" and "winograd_conv" have the operands and attributes of
// "blocked_weight" and "blocked_conv" and compute the same with other
// roundings, for kernels of 3 x 3 with stride and dilation 1 that are neither
// depthwise nor read plain pictures. Their packed weight has 16 / 9 of the
// elements. What is infinite or NaN in a picture may make results NaN up to a
// pixel further away than its windows reach.

/// Last steps on each sum of a convolution.
struct ConvEnding {
  enum class Kind : uint8_t {
    kNone,
    kClamp,
    kSigmoid,
    kTanh,
    kSilu,
    kGelu,
    kGeluTanh,
    kHardSigmoid,
    kHardSwish
  };
  Kind kind = Kind::kNone;
  /// Limits of kClamp, of which a rectifier is one; NaN stays.
  float low = 0, high = std::numeric_limits<float>::infinity();

  static ConvEnding relu() { return {Kind::kClamp}; }
};

/// A convolution on blocked pictures and what followed it. Operands of
/// "blocked_conv": write y blocked, read x blocked (plain if plain_input), read
/// packed and read shift of "blocked_weight", read residual blocked like y or
/// undefined. y overlaps none of the others. x and packed are float32 or, both,
/// bfloat16 (packed in pairs, x neither plain nor depthwise), y and residual
/// likewise; sums are in float32 and rounded once. Beside a packed one in pairs
/// a plain x of float32 is rounded as it is read.
///   y = ending(conv(x, packed) + shift + residual)
/// Sums begin with the shift and go over blocks of input channels, rows and
/// columns of the kernel and channels of a block, in this order and whatever
/// the number of threads (by AMX over two blocks at once, and the shift comes
/// last). Padding is either skipped or multiplied as zeros, so
/// a weight that is infinite or NaN may make outputs NaN whose window reaches
/// into it, as it does for "conv_forward". What is infinite or NaN in a
/// picture stays within the windows that contain it or, of a plain one in
/// pairs, end just before it.
struct BlockedConvAttributes {
  /// Lists of one or two entries. groups: C == O if depthwise, else 1 or such
  /// as blocked_groups() allows. padding is what lies in front of x; behind it
  /// as much as y reads.
  ConvAttributes conv;
  Dims kernel;
  int64_t in_channels = 1, out_channels = 1;
  ConvEnding ending;
  bool plain_input = false;
  bool depthwise = false;
};

}  // namespace hotaru
