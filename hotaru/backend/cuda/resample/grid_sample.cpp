// Launching the sampling of pictures at points; see params/grid_sample.h.
#include "hotaru/backend/cuda/params/grid_sample.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatingTypes> kForwardTypes{1, "grid_sampler"};
constexpr KernelTypes<FloatingTypes> kBackwardTypes{3, "grid_sampler"};

GridSampleParams params_of(const KernelCall& call, const Tensor& x,
                           const Tensor& grid) {
  GridSampleParams p;
  p.attributes = call.attributes<GridSampleAttributes>();
  p.x = x.numel() > 0 ? device_address(x) : nullptr;
  p.grid = grid.numel() > 0 ? device_address(grid) : nullptr;
  p.dims = int32_t(x.dim() - 2);
  p.numel = grid.numel() / p.dims;
  p.points = std::max<int64_t>(1, p.numel / std::max<int64_t>(1, x.size(0)));
  p.channels = x.size(1);
  for (int64_t d = 0; d < p.dims; ++d) p.side[3 - p.dims + d] = x.size(2 + d);
  return p;
}

void grid_sample(const KernelCall& call) {
  static constinit const Functions functions("GridSample");
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  GridSampleParams p = params_of(call, x, call.tensor(2));
  if (out.numel() == 0) return;
  p.out = device_address(out);
  launch(functions.of(x.dtype()), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

void grid_sample_grad(const KernelCall& call) {
  static constinit const Functions functions("GridSampleGrad");
  const Tensor &gx = call.tensor(0), &ggrid = call.tensor(1);
  const Tensor &g = call.tensor(2), &x = call.tensor(3);
  GridSampleParams p = params_of(call, x, call.tensor(4));
  if (gx.defined() && gx.numel() > 0) {
    p.x_grad = device_address(gx);
    clear(gx);
  }
  if (p.numel == 0) return;
  p.grad = g.numel() > 0 ? device_address(g) : nullptr;
  if (ggrid.defined()) p.grid_grad = device_address(ggrid);
  launch(functions.of(x.dtype()), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

HOTARU_KERNEL(kCUDA, "grid_sample", grid_sample, check_types<kForwardTypes>);
HOTARU_KERNEL(kCUDA, "grid_sample_grad", grid_sample_grad,
              check_types<kBackwardTypes>);

}  // namespace
}  // namespace hotaru::cuda
