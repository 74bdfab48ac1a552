// Convolutions of a channel alone in bytes, line by line, where the processor
// multiplies them: what tiles would spend on their planes and stores is most of
// such a convolution.
#pragma once

#include "hotaru/backend/cpu/conv/pair_planes.h"

namespace hotaru::cpu {

/// The windows of one channel, padded.
class PaddedLines {
 public:
  /// Tells whether the windows are for them: of one channel, the last dimension
  /// in steps of one or two, without dilation, and a processor with quads.
  static bool fit(const PairedWindows& windows);

  explicit PaddedLines(const PairedWindows& windows);

  /// Takes over a channel of x. The lines are the thread's until the next one.
  void fill(const uint8_t* x);
  /// Sums of all outputs, in sums_size() elements: of weights as
  /// quad_weights() made them, corrected by the row they belong to; `ones` as
  /// weights of one each, or null where the row's zero is none.
  void multiply(const int32_t* weights, const QuadRow& row, const int32_t* ones,
                int32_t* sums) const;
  int64_t sums_size() const;

 private:
  void add_up(const int32_t* weights, int32_t first, int32_t* sums) const;

  const PairedWindows& w_;
  Extents whole_;  // positions of x and its padding that windows read
  int64_t pitch_;  // bytes from line to line
  uint8_t* lines_ = nullptr;
};

}  // namespace hotaru::cpu
