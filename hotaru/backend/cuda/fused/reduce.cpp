#include "hotaru/backend/cuda/fused/reduce.h"

#include <algorithm>

#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/backend/cuda/fused/set_values.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"
#include "hotaru/backend/cuda/reduce/formula.h"

namespace hotaru::cuda::fused {
bool fits(const ReduceText& text, const KernelCall& reduction) {
  if (text.text.empty()) return false;
  const size_t length = reduce_length(itemsize(reduction.tensor(1).dtype()));
  return std::all_of(
      text.values.operands.begin(), text.values.operands.end(),
      [&](const Tensor* t) {
        const size_t vector = length * itemsize(t->dtype());
        return t->numel() == 1 ||
               reinterpret_cast<uintptr_t>(t->address()) % vector == 0;
      });
}

bool run_reduce(const ReduceText& text, const KernelCall& reduction,
                const std::shared_ptr<BackgroundKernel>& kernel) {
  const Tensor& in = reduction.tensor(1);
  const int device = launching_timeline().device();
  const auto* const program =
      BackgroundKernel::ready(kernel, text.text, device);
  if (!program) return false;
  FusedReduceParams p;
  set_values(p, text.values);
  const auto* const first = static_cast<const char*>(device_address(in));
  reduce_with(reduction, [&](const ReduceParams& part, Grid grid) {
    p.reduce = part;
    const int64_t before = (static_cast<const char*>(part.in) - first) /
                           int64_t(itemsize(in.dtype()));
    for (size_t k = 0; k < text.values.operands.size(); ++k) {
      const Tensor& t = *text.values.operands[k];
      const int64_t bytes =
          t.numel() == 1 ? 0 : before * int64_t(itemsize(t.dtype()));
      p.address[k] = static_cast<char*>(device_address(t)) + bytes;
    }
    launch_fused(*program, device, grid, &p);
  });
  return true;
}

}  // namespace hotaru::cuda::fused
