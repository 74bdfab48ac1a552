#include "hotaru/backend/cuda/fused/reduce.h"

#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/backend/cuda/fused/set_values.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"
#include "hotaru/backend/cuda/reduce/formula.h"

namespace hotaru::cuda::fused {
namespace {

/// Whether every operand is where a vector of the reduction's elements is.
bool aligned(const FusedValues& values, const Tensor& in) {
  const size_t length = reduce_length(itemsize(in.dtype()));
  for (const Tensor* t : values.operands)
    if (t->numel() != 1 && reinterpret_cast<uintptr_t>(t->address()) %
                                   (length * itemsize(t->dtype())) !=
                               0)
      return false;
  return true;
}

}  // namespace

bool run_reduce(const ReduceText& text, const KernelCall& reduction,
                const std::shared_ptr<BackgroundKernel>& kernel) {
  const Tensor& in = reduction.tensor(1);
  if (text.text.empty() || !aligned(text.values, in)) return false;
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
