// Convolutions on blocked pictures (backend/common/conv/blocked.h) so small
// that the sums of all pixels of an output block stay in registers.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/cpu/conv/blocked/blocked_conv.h"

namespace hotaru::cpu {

/// An output block of one image.
struct WholeBlock {
  const BlockedSizes& s;
  const TileEdge* rows;     // of each row of the kernel
  const TileEdge* columns;  // of each column of the kernel
  const float* x;           // the image
  const float* w;           // of the output block
  const float* shift;
  const float* residual;  // like y, or null
  float* y;
  SumBounds bounds;
};

/// Large convolutions of small pictures take as long as their weights need to
/// arrive from memory. Here each is read once and in order, so that the
/// processor fetches them ahead, while BlockedConv reads them once for every
/// output row. Results are the same to the bit. Its functions may be called
/// from several threads.
class BlockedWhole {
 public:
  /// Tells whether there is a kernel for that; blocked pictures only.
  static bool serves(const KernelCall& call);

  explicit BlockedWhole(const KernelCall& call);
  void run(const BlockedConv::Operands& o) const;

 private:
  BlockedSizes s_;
  BlockEnding ending_;
  void (*kernel_)(const WholeBlock&);
  std::vector<TileEdge> rows_, columns_;
};

}  // namespace hotaru::cpu
