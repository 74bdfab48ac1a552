// The gradients of grid sampling out of differentiable operators.
#pragma once

#include "hotaru/backend/common/resample/grid_sample.h"
#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Gradients of x and of the grid, for what has to be differentiated again; the
/// kernel "grid_sample_grad" gives the same numbers.
Tensors grid_sample_gradients(const Tensor& g, const Tensor& x,
                              const Tensor& grid,
                              const GridSampleAttributes& attributes);

}  // namespace hotaru
