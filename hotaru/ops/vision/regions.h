// Regions of interest of pictures, as grids of fixed size.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

struct GridSize {
  int64_t rows, columns;
};

/// Throws unless `input` is pictures, `rois` rows of five, both of one
/// floating-point type, and the grid has cells. `name`: the operator.
void check_regions(const char* name, const Tensor& input, const Tensor& rois,
                   GridSize grid);

/// Row-major, and in float32 where it was of half precision.
Tensor as_working(const Tensor& t);

}  // namespace hotaru
