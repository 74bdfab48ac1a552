// Launching average pooling; see params/pool.h.
#include "hotaru/backend/common/resample/resample.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/backend/cuda/pool/windows.h"

namespace hotaru::cuda {
namespace {

/// Interpolation has no kernels yet.
void check_mode(const ResampleAttributes& a) {
  if (a.mode != ResampleMode::kAverage && a.mode != ResampleMode::kAdaptive)
    fail<NotImplementedError>("interpolate: not implemented for device cuda");
}

template <class Types>
struct ResampleTypes {
  size_t operand;

  template <class F>
  void visit(const KernelCall& call, F&& f) const {
    const auto& a = call.attributes<ResampleAttributes>();
    check_mode(a);
    visit_dtype(
        Types{}, call.tensor(operand).dtype(),
        a.mode == ResampleMode::kAverage ? "avg_pool2d" : "adaptive_avg_pool2d",
        f);
  }
};
constexpr ResampleTypes<TypeList<float, double, Half, BFloat16, int64_t>>
    kForwardTypes{1};
constexpr ResampleTypes<FloatingTypes> kBackwardTypes{0};

void run(const ResampleAttributes& a, const Tensor& x, const Tensor& y,
         const Tensor& out, const Tensor& in, const char* pass) {
  PoolParams p = pool_params(a, x, y, out, in);
  p.adaptive = a.mode == ResampleMode::kAdaptive;
  p.include_pad = a.include_pad;
  p.divisor = a.divisor;
  launch(function_named(concat("AveragePool_", type_suffix(out.dtype()), pass)),
         {blocks_for(p.numel, kBlock)}, kBlock, p);
}

void resample(const KernelCall& call) {
  check_types<kForwardTypes>(call);
  const Tensor &out = call.tensor(0), &x = call.tensor(1);
  if (out.numel() == 0) return;
  run(call.attributes<ResampleAttributes>(), x, out, out, x, "");
}

void resample_transposed(const KernelCall& call) {
  check_types<kBackwardTypes>(call);
  const Tensor &x = call.tensor(0), &out = call.tensor(1);
  if (x.numel() == 0) return;
  if (out.numel() > 0)
    return run(call.attributes<ResampleAttributes>(), x, out, x, out, "_t");
  HOTARU_CUDA(cuMemsetD8Async, reinterpret_cast<CUdeviceptr>(device_address(x)),
              0, size_t(x.numel()) * itemsize(x.dtype()),
              launching_timeline().handle());
}

HOTARU_KERNEL(kCUDA, "resample", resample);
HOTARU_KERNEL(kCUDA, "resample_transposed", resample_transposed);

}  // namespace
}  // namespace hotaru::cuda
