#include "hotaru/backend/cuda/fused/attention.h"

#include <array>

#include "hotaru/backend/cuda/attention/launch.h"
#include "hotaru/backend/cuda/fused/attention_text.h"
#include "hotaru/backend/cuda/fused/background.h"
#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/backend/cuda/fused/set_values.h"
#include "hotaru/backend/cuda/params/fused_attention.h"

namespace hotaru::cuda::fused {
namespace {

/// Kernels that a group has become: without tensor cores and with them.
struct Made {
  AttentionEpilogue epilogue;
  std::array<std::string, 2> texts;
  std::array<std::shared_ptr<BackgroundKernel>, 2> kernels{
      std::make_shared<BackgroundKernel>(),
      std::make_shared<BackgroundKernel>()};
};

std::shared_ptr<Made> made_of(const FusedCalls& calls, uint32_t width) {
  const std::lock_guard lock(calls.mutex);
  if (!calls.made) {
    auto made = std::make_shared<Made>();
    made->epilogue = attention_epilogue(calls);
    const DType dtype = calls.calls[0]->tensor(0).dtype();
    for (const bool tensor_cores : {false, true})
      made->texts[tensor_cores] =
          attention_text(made->epilogue, dtype, tensor_cores, width);
    calls.made = std::move(made);
  }
  return std::static_pointer_cast<Made>(calls.made);
}

void set_operands(FusedAttentionParams& p,
                  std::span<const Tensor* const> operands) {
  for (size_t k = 0; k < operands.size(); ++k) {
    const Tensor& t = *operands[k];
    const auto item = int64_t(itemsize(t.dtype()));
    p.address[k] = device_address(t);
    if (t.dim() == 0) continue;  // one element for all
    p.steps[k] = {t.stride(0) * item, t.stride(1) * item, t.stride(2) * item,
                  t.stride(3) * item};
    const int64_t places = reinterpret_cast<intptr_t>(p.address[k]) |
                           p.steps[k].batch | p.steps[k].head | p.steps[k].row;
    if (p.steps[k].column == item && places % (4 * item) == 0)
      p.vectors |= uint32_t{1} << k;
  }
}

}  // namespace

bool run_fused_attention(const FusedCalls& calls) {
  const AttentionLaunch attention = attention_launch(*calls.calls[0]);
  const std::shared_ptr<Made> made = made_of(calls, attention.width);
  const AttentionEpilogue& epilogue = made->epilogue;
  if (epilogue.statements.empty()) return false;
  FusedAttentionParams p;
  p.attention = attention.params;
  set_operands(p, epilogue.values.operands);
  const int device = launching_timeline().device();
  const size_t kind = attention.tensor_cores ? 1 : 0;
  const auto* const program =
      BackgroundKernel::ready(made->kernels[kind], made->texts[kind], device);
  if (!program) return false;
  set_values(p, epilogue.values);
  launch_fused(*program, device, attention.grid, &p, attention.shared);
  return true;
}

}  // namespace hotaru::cuda::fused
