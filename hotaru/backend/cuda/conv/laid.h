// Operands of convolutions as products see them.
#pragma once

#include <array>
#include <optional>

#include "hotaru/backend/cuda/launch.h"

namespace hotaru::cuda {

/// Missing spatial dimensions are 1 and the outermost.
using Sides = std::array<int64_t, 3>;

/// Sizes of a convolution: channels of x and y in one of its groups.
struct ConvSizes {
  int64_t samples, groups, in, out;
  Sides x, y, w;
};

constexpr int64_t volume(const Sides& s) {
  return s[0] * s[1] * s[2];
}

/// Where elements lie, in elements: [outer, group, channel, ...sides], outer
/// being samples, or, of weights, the channels of y in their group.
struct Laid {
  char* at = nullptr;
  int64_t outer = 0, group = 0, channel = 0;
  Sides side{};
};

Laid picture_of(const Tensor& t, int64_t channels);
Laid weight_of(const Tensor& t, int64_t out);

/// How many there are of what a Laid has.
struct Extent {
  int64_t outer, groups, channels;
  Sides sides;
};

/// A copy whose channels lie side by side, with room for more of them and for
/// positions before and after those that there are: all zeros.
class LaidCopy {
 public:
  LaidCopy(const Laid& from, const Extent& extent, int64_t room,
           const Sides& before, const Sides& after, int64_t item);
  const Laid& laid() const { return laid_; }

 private:
  Laid laid_;
  std::optional<Workspace> memory_;
};

/// Channels with what fills up the last chunk of eight.
constexpr int64_t in_chunks(int64_t channels) {
  return (channels + 7) / 8 * 8;
}
/// Tells whether tensor cores can read 16-bit elements there: channels side by
/// side, in chunks that begin at multiples of 16 bytes.
bool lies_in_chunks(const Laid& a, const Extent& extent);

}  // namespace hotaru::cuda
