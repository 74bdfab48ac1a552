// Launching maximum pooling, and elements by their positions in planes; see
// params/pool.h.
#include "hotaru/backend/common/pool/pool.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/clear.h"
#include "hotaru/backend/cuda/index/ordered.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/pool/windows.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

struct MaxPoolTypes {
  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    const bool deep = call.attributes<MaxPoolAttributes>().dims == 3;
    visit_dtype(RealTypes{}, call.tensor(2).dtype(),
                deep ? "max_pool3d" : "max_pool2d", f);
  }
};
constexpr MaxPoolTypes kMaxPoolTypes;
constexpr KernelTypes<FloatingTypes> kFractionalTypes{2, "fractional_max_pool"};
constexpr KernelTypes<FloatingTypes> kToPlanesTypes{0, "max_unpool"};

void run(const Functions& functions, DType dtype, const PoolParams& p) {
  launch(functions.of(dtype), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

void max_pool(const KernelCall& call) {
  check_types<kMaxPoolTypes>(call);
  const Tensor &out = call.tensor(0), &indices = call.tensor(1);
  const Tensor& x = call.tensor(2);
  if (out.numel() == 0) return;
  const auto& a = call.attributes<MaxPoolAttributes>();
  PoolParams p = pool_params(a, x, out, out, x);
  p.adaptive = a.adaptive;
  if (indices.defined())
    p.indices = static_cast<int64_t*>(device_address(indices));
  static constinit const Functions functions("MaxPool");
  run(functions, x.dtype(), p);
}

void fractional_max_pool(const KernelCall& call) {
  check_types<kFractionalTypes>(call);
  const Tensor &out = call.tensor(0), &indices = call.tensor(1);
  const Tensor &x = call.tensor(2), &samples = call.tensor(3);
  if (out.numel() == 0) return;
  PoolParams p =
      pool_params(call.attributes<FractionalPoolAttributes>(), x, out, out, x);
  p.indices = static_cast<int64_t*>(device_address(indices));
  p.samples = device_address(samples);
  static constinit const Functions functions("FractionalPool");
  run(functions, x.dtype(), p);
}

/// The CPU's text; sides as the kernel packs them.
[[noreturn]] void raise(const FailureText&, int64_t dims,
                        const int64_t* numbers) {
  const int64_t side[3] = {numbers[1] >> 32, numbers[1] & 0xffffffff,
                           numbers[2]};
  std::string sides;
  for (int64_t d = 0; d < dims; ++d) {
    if (d > 0) sides += 'x';
    sides += std::to_string(side[d]);
  }
  fail("Found an invalid max index: ", numbers[0],
       " (output volumes are of size ", sides, ")");
}

/// x's planes, and `out` of the shape of `index`.
PlaneParams plane_params(const KernelCall& call, const Tensor& x,
                         const Tensor& out, const Tensor& index) {
  HOTARU_CHECK(x.numel() < kMostElements && index.numel() < kMostElements,
               "pooling of 2^31 elements and more is not implemented for CUDA "
               "yet");
  PlaneParams p;
  p.dims = call.attributes<PlaneAttributes>().dims;
  const auto lead = size_t(x.dim() - p.dims);
  p.out = device_address(out);
  p.x = x.numel() > 0 ? device_address(x) : nullptr;
  p.index = static_cast<const int64_t*>(device_address(index));
  p.numel = uint32_t(index.numel());
  p.plane = Divider(uint32_t(numel_of(index.sizes().subspan(lead))));
  p.volume = numel_of(x.sizes().subspan(lead));
  for (size_t d = 0; d < size_t(p.dims); ++d) p.side[d] = x.sizes()[lead + d];
  p.errors = watch_errors(call, {&raise});
  return p;
}

void plane_gather(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  if (out.numel() == 0) return;
  const PlaneParams p = plane_params(call, x, out, call.tensor(2));
  static constinit const Functions functions("PlaneGather");
  launch(functions.of_size(itemsize(x.dtype())), {blocks_for(p.numel, kBlock)},
         kBlock, p);
}

void plane_place(const KernelCall& call) {
  check_types<kToPlanesTypes>(call);
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  clear(x);
  if (out.numel() == 0) return;
  const PlaneParams p = plane_params(call, x, out, call.tensor(2));
  static constinit const Functions functions("PlanePlace");
  launch(functions.of_size(itemsize(x.dtype())), {blocks_for(p.numel, kBlock)},
         kBlock, p);
}

void add_planes_ordered(PlaneParams p, const Tensor& x) {
  static const Function finding("PlaneTargets");
  const Workspace targets{p.numel * sizeof(int64_t)};
  p.targets = static_cast<int64_t*>(targets.data());
  p.item = int64_t(itemsize(x.dtype()));
  launch(finding, {blocks_for(p.numel, kBlock)}, kBlock, p);
  add_ordered(p.out, p.x, p.targets, p.numel, x.dtype());
}

/// By atomics, unless the windows that the indices come from are known.
void plane_scatter(const KernelCall& call) {
  check_types<kToPlanesTypes>(call);
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  const Tensor& index = call.tensor(2);
  const auto& a = call.attributes<PlaneAttributes>();
  if (x.numel() == 0) return;
  if (!a.pooled || out.numel() == 0) clear(x);
  if (out.numel() == 0) return;
  if (a.pooled) {
    static constinit const Functions functions("MaxPoolGrad");
    PoolParams p = pool_params(a.windows, x, out, x, out);
    p.adaptive = a.windows.adaptive;
    p.indices = static_cast<int64_t*>(device_address(index));
    return run(functions, x.dtype(), p);
  }
  PlaneParams p = plane_params(call, x, out, index);
  if (keeps_order(x.dtype(), WriteMode::kAdd)) return add_planes_ordered(p, x);
  static constinit const Functions functions("PlaneScatter");
  launch(functions.of(x.dtype()), {blocks_for(p.numel, kBlock)}, kBlock, p);
}

HOTARU_KERNEL(kCUDA, "max_pool", max_pool);
HOTARU_KERNEL(kCUDA, "fractional_max_pool", fractional_max_pool);
HOTARU_KERNEL(kCUDA, "plane_gather", plane_gather);
HOTARU_KERNEL(kCUDA, "plane_scatter", plane_scatter);
HOTARU_KERNEL(kCUDA, "plane_place", plane_place);

}  // namespace
}  // namespace hotaru::cuda
