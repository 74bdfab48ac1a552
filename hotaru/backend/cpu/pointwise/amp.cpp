#include "hotaru/backend/common/pointwise/amp.h"

#include <atomic>
#include <cmath>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<FloatingTypes> kTypes{
    0, "_amp_foreach_non_finite_check_and_unscale_cpu"};

void unscale(const KernelCall& call) {
  kTypes.visit(call, [&]<class T>() {
    using A = OpMath<T>;
    const Tensor& grad = call.tensor(0);
    T* x = grad.data<T>();
    const A factor = A(*call.tensor(2).data<float>());
    std::atomic<bool> found{false};
    parallel_for(0, grad.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
      bool finite = true;
      for (int64_t i = begin; i < end; ++i) {
        const A value = A(x[i]);
        // Only of infinities and NaN the difference is no zero.
        finite &= value - value == A(0);
        x[i] = T(factor == A(1) ? value : value * factor);
      }
      if (!finite) found.store(true, std::memory_order_relaxed);
    });
    if (found.load(std::memory_order_relaxed))
      *call.tensor(1).data<float>() = 1;
  });
}

void update_scale(const KernelCall& call) {
  const auto& a = call.attributes<ScaleUpdate>();
  float& scale = *call.tensor(0).data<float>();
  int32_t& tracker = *call.tensor(1).data<int32_t>();
  if (*call.tensor(2).data<float>() != 0) {
    scale = float(scale * a.backoff);
    tracker = 0;
  } else if (tracker + int64_t{1} == a.interval) {
    const auto grown = float(scale * a.growth);
    if (std::isfinite(grown)) scale = grown;
    tracker = 0;
  } else {
    ++tracker;
  }
}

HOTARU_KERNEL(kCPU, "amp_unscale", unscale, check_types<kTypes>);
HOTARU_KERNEL(kCPU, "amp_update", update_scale);

}  // namespace
}  // namespace hotaru::cpu
