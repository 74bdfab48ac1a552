// One dimension of a convolution, or of its gradient, on planes: pictures whose
// rows lie `pitch` apart, so that what a tap of the kernel reads is a fixed
// distance away from what the first one does, for all outputs alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hotaru/backend/cpu/conv/conv_kernel.h"

namespace hotaru::cpu {

struct PlaneAxis {
  /// A tap reads, for output position q of its class, element q + shift of the
  /// planes of a phase.
  struct Tap {
    int64_t kernel, phase, shift;
  };

  int64_t in = 0, out = 0;  // pixels that are read, and made
  /// Pixels between neighbours of a plane, and between outputs of a class.
  int64_t stride = 1, step = 1;
  int64_t grid = 0;  // positions of a class, of which the last may be outside
  int64_t halo = 0;  // the largest shift
  /// The pixel of a plane's first element, of each phase.
  std::vector<int64_t> first;
  /// Taps of each class: outputs of remainder 0, 1, ... by `step`.
  std::vector<std::vector<Tap>> taps;

  /// Zeros before the picture, in every plane.
  int64_t lead() const;
  /// From a row (or picture) to the next one: the zeros before that serve as
  /// those behind this one.
  int64_t pitch() const;
  /// Outputs of a class from position `begin` on, before `end`.
  int64_t outputs(int64_t of_class, int64_t begin, int64_t end) const;

  /// y from x, along dimension d of three.
  static PlaneAxis forward(const ConvGeometry& g, size_t d);
  /// x's gradient from y's.
  static PlaneAxis data(const ConvGeometry& g, size_t d);
};

}  // namespace hotaru::cpu
