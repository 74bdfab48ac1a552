// Launching distances of all pairs of rows; see params/distance.h.
#include "hotaru/backend/common/distance/cdist.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/distance.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatTypes> kTypes{0, "cdist"};

const void* address_of(const Tensor& t) {
  return t.numel() > 0 ? device_address(t) : nullptr;
}

void run(const KernelCall& call, const Functions& functions, const Tensor& x,
         const Tensor& y, DistanceParams p) {
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  p.out = device_address(out);
  p.x = address_of(x);
  p.y = address_of(y);
  p.numel = out.numel();
  p.rows = x.size(1);
  p.others = y.size(1);
  p.columns = x.size(2);
  p.p = call.attributes<CdistAttributes>().p;
  launch(functions.of(out.dtype()), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

void cdist(const KernelCall& call) {
  static constinit const Functions functions("Cdist");
  run(call, functions, call.tensor(1), call.tensor(2), {});
}

void pdist(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  if (out.numel() == 0) return;
  PairParams p;
  p.out = device_address(out);
  p.x = address_of(x);
  p.columns = x.size(1);
  p.p = call.attributes<CdistAttributes>().p;
  p.pairs = {x.size(0), x.size(0), 1, true};
  static constinit const Functions functions("Pdist");
  launch(functions.of(out.dtype()), {blocks_for(out.numel(), kBlock)}, kBlock,
         p);
}

void cdist_grad(const KernelCall& call) {
  static constinit const Functions functions("CdistGrad");
  DistanceParams p;
  p.grad = address_of(call.tensor(1));
  p.distances = address_of(call.tensor(4));
  run(call, functions, call.tensor(2), call.tensor(3), p);
}

HOTARU_KERNEL(kCUDA, "cdist", cdist, check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "pdist", pdist, check_types<kTypes>);
HOTARU_KERNEL(kCUDA, "cdist_grad", cdist_grad, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cuda
