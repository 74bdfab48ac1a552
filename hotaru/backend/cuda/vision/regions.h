// Regions of interest, as launchers describe them to kernels.
#pragma once

#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/vision.h"

namespace hotaru::cuda {

/// Parameters of all of a call's kernels but for its attributes. The grid is
/// not empty.
RegionParams region_params(const KernelCall& call, const Tensor& grid,
                           const Tensor& picture, const Tensor& rois);

/// Launches over all elements of the grids, cut by regions.
void launch_regions(const Functions& functions, const Tensor& grid,
                    RegionParams p);

}  // namespace hotaru::cuda
