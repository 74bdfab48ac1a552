// Launching the scaling of losses; see params/amp.h.
#include "hotaru/backend/common/pointwise/amp.h"

#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/amp.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatingTypes> kTypes{
    0, "_amp_foreach_non_finite_check_and_unscale_cuda"};

void unscale(const KernelCall& call) {
  check_types<kTypes>(call);
  const Tensor& grad = call.tensor(0);
  if (grad.numel() == 0) return;
  static constinit const Functions functions("AmpUnscale");
  AmpUnscaleParams p;
  p.found_inf = static_cast<float*>(device_address(call.tensor(1)));
  p.inv_scale = static_cast<const float*>(device_address(call.tensor(2)));
  auto* data = static_cast<char*>(device_address(grad));
  for (int64_t begin = 0; begin < grad.numel(); begin += most_elements()) {
    p.grad = data + begin * int64_t(itemsize(grad.dtype()));
    p.numel = uint32_t(std::min(grad.numel() - begin, most_elements()));
    launch(functions.of(grad.dtype()), {blocks_for(p.numel, kBlock)}, kBlock,
           p);
  }
}

void update_scale(const KernelCall& call) {
  static const Function function("AmpUpdate");
  const auto& a = call.attributes<ScaleUpdate>();
  AmpUpdateParams p;
  p.scale = static_cast<float*>(device_address(call.tensor(0)));
  p.tracker = static_cast<int32_t*>(device_address(call.tensor(1)));
  p.found_inf = static_cast<const float*>(device_address(call.tensor(2)));
  p.growth = a.growth;
  p.backoff = a.backoff;
  p.interval = a.interval;
  launch(function, {1}, kBlock, p);
}

HOTARU_KERNEL(kCUDA, "amp_unscale", unscale);
HOTARU_KERNEL(kCUDA, "amp_update", update_scale);

}  // namespace
}  // namespace hotaru::cuda
