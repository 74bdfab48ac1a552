// Launching averages of regions' bilinear samples; see params/vision.h.
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/vision/regions.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatTypes> kTypes{0, "roi_align"};
constinit const Functions kAlign("RoiAlign"), kAlignGrad("RoiAlignGrad"),
    kPsAlign("PsRoiAlign"), kPsAlignGrad("PsRoiAlignGrad");

template <const Functions& functions>
void align(const KernelCall& call) {
  check_types<kTypes>(call);
  const Tensor &grid = call.tensor(0), &picture = call.tensor(1);
  if (grid.numel() == 0 || picture.numel() == 0) return clear(grid);
  RegionParams p = region_params(call, grid, picture, call.tensor(2));
  p.attributes = call.attributes<RegionAttributes>();
  launch_regions(functions, grid, p);
}

template <const Functions& functions>
void align_backward(const KernelCall& call) {
  check_types<kTypes>(call);
  const Tensor &picture = call.tensor(0), &grid = call.tensor(1);
  clear(picture);
  if (grid.numel() == 0 || picture.numel() == 0) return;
  RegionParams p = region_params(call, grid, picture, call.tensor(2));
  p.attributes = call.attributes<RegionAttributes>();
  launch_regions(functions, grid, p);
}

HOTARU_KERNEL(kCUDA, "roi_align", align<kAlign>, check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "roi_align_backward", align_backward<kAlignGrad>,
              check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "ps_roi_align", align<kPsAlign>, check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "ps_roi_align_backward", align_backward<kPsAlignGrad>,
              check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cuda
