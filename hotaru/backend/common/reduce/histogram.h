// Attributes of the histogram kernel.
#pragma once

namespace hotaru {

/// Kernel "histogram" (counts, input, edges or undefined, weights or
/// undefined), all row-major and of one dtype. With edges, one more than
/// counts, an element counts where it is not below an edge and below the next;
/// the last bin holds its upper edge, too. Without, bins divide [low, high].
struct HistogramAttributes {
  /// Edges are about equally far apart: where to look first.
  bool equal = false;
  double low = 0, high = 0;
};

}  // namespace hotaru
