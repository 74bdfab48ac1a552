// Launching maxima and averages of regions' cells; see params/vision.h.
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/vision/regions.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatTypes> kTypes{0, "roi_pool"};

void roi_pool(const KernelCall& call) {
  check_types<kTypes>(call);
  const Tensor &grid = call.tensor(0), &places = call.tensor(1);
  const Tensor& picture = call.tensor(2);
  if (grid.numel() == 0) return;
  static constinit const Functions functions("RoiPool");
  RegionParams p = region_params(call, grid, picture, call.tensor(3));
  p.attributes = call.attributes<RegionAttributes>();
  p.places = static_cast<int32_t*>(device_address(places));
  launch_regions(functions, grid, p);
}

void roi_pool_backward(const KernelCall& call) {
  check_types<kTypes>(call);
  const Tensor &picture = call.tensor(0), &grid = call.tensor(1);
  clear(picture);
  if (grid.numel() == 0 || picture.numel() == 0) return;
  static constinit const Functions functions("RoiPoolGrad");
  RegionParams p = region_params(call, grid, picture, call.tensor(3));
  p.places = static_cast<int32_t*>(device_address(call.tensor(2)));
  launch_regions(functions, grid, p);
}

void ps_roi_pool(const KernelCall& call) {
  check_types<kTypes>(call);
  const Tensor &grid = call.tensor(0), &picture = call.tensor(1);
  if (grid.numel() == 0) return;
  static constinit const Functions functions("PsRoiPool");
  RegionParams p = region_params(call, grid, picture, call.tensor(2));
  p.attributes = call.attributes<RegionAttributes>();
  launch_regions(functions, grid, p);
}

void ps_roi_pool_backward(const KernelCall& call) {
  check_types<kTypes>(call);
  const Tensor &picture = call.tensor(0), &grid = call.tensor(1);
  clear(picture);
  if (grid.numel() == 0 || picture.numel() == 0) return;
  static constinit const Functions functions("PsRoiPoolGrad");
  RegionParams p = region_params(call, grid, picture, call.tensor(2));
  p.attributes = call.attributes<RegionAttributes>();
  launch_regions(functions, grid, p);
}

HOTARU_KERNEL(kCUDA, "roi_pool", roi_pool, check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "roi_pool_backward", roi_pool_backward,
              check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "ps_roi_pool", ps_roi_pool, check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "ps_roi_pool_backward", ps_roi_pool_backward,
              check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cuda
