// Parameters of the kernels of boxes and regions of interest.
#pragma once

#include <cstdint>

namespace hotaru {

/// Operands of "nms", row-major: write which boxes stay, first ones first
/// (int64 [n]), write how many do (int64 [1]), read boxes [n, 4] (left, top,
/// right, bottom), best first. A box falls if its intersection with a better
/// one that stays is more than `threshold` of their union.
struct NmsAttributes {
  double threshold = 0;
};

/// Regions are rows [image, left, top, right, bottom] of `rois` [k, 5], in
/// units of which the image's cells are `scale`; an image that there is not is
/// an error, found when the kernel runs. All operands are row-major and of one
/// dtype; `input` is [n, channels, height, width], grids are
/// [k, channels, rows, columns].
///
/// "roi_align" (write grid, read input, read rois): averages of bilinear
/// samples, `samples` a bin along each side, or as many as it has cells where
/// that is not positive. "ps_roi_align": the same, of input's channel
/// (c * rows + row) * columns + column. "roi_align_backward" and
/// "ps_roi_align_backward" (write grad of input, read grad of grid, read rois)
/// are their transposes.
///
/// "roi_pool" (write grid, write place in the plane or -1 (int32), read input,
/// read rois): maxima of whole cells. "roi_pool_backward" (write grad of
/// input, read grad of grid, read places, read rois). "ps_roi_pool" and
/// "ps_roi_pool_backward" as those of ps_roi_align: averages of whole cells.
struct RegionAttributes {
  double scale = 1;
  int64_t samples = 0;
  /// Boxes are of cells' centres, not of their corners, and may be empty.
  bool aligned = false;
};

}  // namespace hotaru
