// The kernel "fused_calls": what a group of calls becomes.
#include <span>

#include "hotaru/backend/cuda/fused/attention.h"
#include "hotaru/backend/cuda/fused/attention_text.h"
#include "hotaru/backend/cuda/fused/elements.h"
#include "hotaru/backend/cuda/fused/reduce.h"
#include "hotaru/backend/cuda/fused/rows.h"

namespace hotaru::cuda::fused {
namespace {

struct Made {
  RowText rows;
  ReduceText reduce;
  const std::shared_ptr<BackgroundKernel> kernel =
      std::make_shared<BackgroundKernel>();
  /// If there is neither text, or none that fits: of all calls but a reduction
  /// at the end.
  ElementKernels elements;
};

std::shared_ptr<Made> make(const FusedCalls& calls) {
  auto made = std::make_shared<Made>();
  std::span<const KernelCall* const> elements = calls.calls;
  auto inner = calls.inner;
  if (calls.reduces) {
    made->reduce = reduce_text(calls);
    inner.erase(elements.back()->tensor(1).storage().get());
    elements = elements.first(elements.size() - 1);
  } else if (calls.columns > 0) {
    made->rows = row_text(calls);
    if (!made->rows.text.empty()) return made;
  }
  made->elements = ElementKernels(elements, inner);
  return made;
}

std::shared_ptr<Made> made_of(const FusedCalls& calls) {
  const std::lock_guard lock(calls.mutex);
  if (!calls.made) calls.made = make(calls);
  return std::static_pointer_cast<Made>(calls.made);
}

void run_each(std::span<const KernelCall* const> calls) {
  for (const KernelCall* call : calls) call->run(DeviceType::kCUDA);
}

void run_fused(const KernelCall& call) {
  const FusedCalls& calls = *call.attributes<FusedAttributes>().calls;
  const std::span<const KernelCall* const> all = calls.calls;
  if (has_epilogue(*all.front())) {
    if (!run_fused_attention(calls)) run_each(all);
    return;
  }
  const std::shared_ptr<Made> made = made_of(calls);
  if (calls.reduces && !fits(made->reduce, *all.back())) {
    made->elements.run();
    return run_each(all.last(1));
  }
  if (calls.reduces) {
    if (!run_reduce(made->reduce, *all.back(), made->kernel)) run_each(all);
    return;
  }
  if (made->rows.text.empty()) return made->elements.run();
  if (!run_rows(made->rows, made->kernel)) run_each(all);
}

HOTARU_KERNEL(kCUDA, "fused_calls", run_fused);

}  // namespace
}  // namespace hotaru::cuda::fused
