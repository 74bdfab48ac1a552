// Parameters of the kernels of grid sampling besides their operands.
#pragma once

#include <cstdint>

namespace hotaru {

/// Values are those of aten::grid_sampler's arguments.
enum class GridMode : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum class GridPadding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

/// x [N, C, (D,) H, W], grid [N, (D',) H', W', d] with coordinates in [-1, 1],
/// the last dimension's first. Operands of "grid_sample": write out
/// [N, C, (D',) H', W'], read x, read grid; of "grid_sample_grad": write gx,
/// write ggrid (each may be undefined), read g, read x, read grid.
struct GridSampleAttributes {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
};

}  // namespace hotaru
