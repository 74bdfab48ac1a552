// Parameters of the kernels of deformable convolution.
#pragma once

#include <array>
#include <cstdint>

namespace hotaru {

/// Parameters of kernels on one image, row-major: input [channels, height,
/// width], offsets [groups, kernel height, kernel width, 2, rows, columns]
/// (down, right), maybe a mask [groups, kernel height, kernel width, rows,
/// columns]; columns are [channels, kernel height, kernel width, rows,
/// columns]: the bilinear sample of each, zero outside of the image, times the
/// mask (arXiv:1811.11168).
///
/// "deform_columns" (write columns, read input, offsets, mask or undefined).
/// "deform_columns_backward" (write gradients of input, offsets and, if there
/// is one, mask; read that of columns, input, offsets, mask or undefined).
struct DeformAttributes {
  std::array<int64_t, 2> kernel{1, 1}, stride{1, 1}, padding{0, 0},
      dilation{1, 1};
  /// Channels share offsets by groups.
  int64_t groups = 1;
};

}  // namespace hotaru
