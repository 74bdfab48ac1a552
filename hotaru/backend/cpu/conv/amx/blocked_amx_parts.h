// Steps of convolutions by AMX around their products (blocked_amx.h): how the
// windows of pixels become rows, and what becomes of sums. Words are of two
// numbers of bfloat16.
#pragma once

#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"

namespace hotaru::cpu {

/// Words that a pixel has of a block, and of two, which products read at once.
inline constexpr int64_t kUnit = kChannelBlock / 2, kUnitPair = 2 * kUnit;
/// Channels of two blocks.
inline constexpr int64_t kAmxChannels = 2 * kChannelBlock;

/// Pixels of a row of two blocks, or zeros where one is null; a line of `count`
/// pixels of both, those outside of [first, end) zeros. Pixel `first` is at
/// the pointers, the next ones `step` words apart.
struct PairLine {
  const uint32_t *one, *two;
  int64_t step, first, end, count;
};
void pack_line(const PairLine& line, uint32_t* to);

/// Output pixels next to each other.
struct PixelRange {
  int64_t first, count;
};

/// Rows [first, first + count) of the channels of a plain picture, rounded,
/// with padding; beyond the picture zeros. Line r of channel c begins at
/// data + (c * count + r) * pitch.
struct PlainLines {
  int64_t first, count, pitch;
  BFloat16* data;
};
/// Elements of a line.
int64_t plain_pitch(const BlockedSizes& s);
void round_lines(const BlockedSizes& s, const float* x,
                 const PlainLines& lines);

/// Windows of pixels of a plain picture: `row` words a pixel, of the channels'
/// rows of the kernel `words` each, zeros behind.
void pack_plain(const BlockedSizes& s, const PlainLines& lines, int64_t words,
                PixelRange pixels, int64_t row, uint32_t* to);

/// Last steps on sums [pixels, channels] of a block.
struct SumsEnd {
  const float* shift;
  SumBounds bounds;
  /// At the first pixel, or null; like y.
  const void* residual;
  bool halves;  // residual is of bfloat16
};
/// y = bounded(sums + shift + residual); y may be the sums.
void end_sums(float* sums, int64_t pixels, const SumsEnd& end, float* y);
void end_sums(float* sums, int64_t pixels, const SumsEnd& end, BFloat16* y);

}  // namespace hotaru::cpu
