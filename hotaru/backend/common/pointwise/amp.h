// Scaling of losses: what kernels do to gradients and to the scale.
//
//   amp_unscale  [grad (updated), found_inf (updated), inv_scale]
//     grad is row-major, of a floating dtype; the others are one float32 each.
//     grad *= inv_scale; found_inf becomes 1 if an element was infinite or NaN,
//     and is left alone otherwise.
//   amp_update   [scale (updated), tracker (updated), found_inf]
//     one float32, int32 and float32; attributes: ScaleUpdate. After a step
//     that found something the scale backs off, after `interval` others in a
//     row it grows, unless it would become infinite.
#pragma once

#include <cstdint>

namespace hotaru {

struct ScaleUpdate {
  double growth = 2, backoff = 0.5;
  int64_t interval = 2000;
};

}  // namespace hotaru
