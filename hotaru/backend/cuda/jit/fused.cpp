#include "hotaru/backend/cuda/jit/fused.h"

#include <array>

#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/jit/fused_rows.h"
#include "hotaru/backend/cuda/jit/fused_text.h"
#include "hotaru/backend/cuda/jit/set_values.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"

namespace hotaru::cuda::jit {
namespace {

/// What a group of calls has become: of elements, or of rows.
struct Made {
  FusedText elements;
  RowText rows;
  std::array<std::shared_ptr<BackgroundKernel>, 2> variants{
      std::make_shared<BackgroundKernel>(),
      std::make_shared<BackgroundKernel>()};
};

std::shared_ptr<Made> made_of(const FusedCalls& calls) {
  const std::lock_guard lock(calls.mutex);
  if (!calls.made) {
    auto made = std::make_shared<Made>();
    if (calls.columns > 0)
      made->rows = row_text(calls);
    else
      made->elements = fused_text(calls);
    calls.made = std::move(made);
  }
  return std::static_pointer_cast<Made>(calls.made);
}

constexpr int kOperands = FusedParams::kMostOperands;

/// Whether every operand is elements side by side, in whole vectors, or one.
bool is_dense(const FusedValues& values, const Geometry<kOperands>& all,
              int64_t numel) {
  const uint32_t length = fused_length(values.item);
  for (size_t k = 0; k < values.operands.size(); ++k) {
    const Tensor& t = *values.operands[k];
    const size_t item = itemsize(t.dtype());
    const bool one = t.numel() == 1 && numel > 1;
    if (!one &&
        (!all.dense(k, item) ||
         reinterpret_cast<uintptr_t>(all.address[k]) % (item * length) != 0))
      return false;
  }
  return true;
}

/// False, and nothing is launched, if there is no kernel yet.
bool run_elements(const Made& made, const Tensor& shape) {
  const FusedText& text = made.elements;
  if (text.dense.empty() || shape.numel() >= most_elements()) return false;
  std::array<const Tensor*, kOperands> tensors{};
  for (size_t k = 0; k < text.values.operands.size(); ++k) {
    device_address(*text.values.operands[k]);
    tensors[k] = text.values.operands[k];
  }
  const auto all = Geometry<kOperands>::of(tensors, shape.sizes());
  const bool dense = is_dense(text.values, all, shape.numel());
  const int device = launching_timeline().device();
  const Program* const program = BackgroundKernel::ready(
      made.variants[dense ? 0 : 1], dense ? text.dense : text.strided, device);
  if (!program) return false;
  FusedParams p;
  for (size_t k = 0; k < text.values.operands.size(); ++k)
    p.address[k] = all.address[k];
  p.numel = uint32_t(all.numel());
  if (!dense) p.index = all.index();
  set_values(p, text.values);
  void* params[] = {&p};
  const uint32_t items =
      dense ? kBlock * fused_length(text.values.item) : kBlock;
  launch(program->on(device), kFusedName,
         {blocks_for(int64_t(p.numel), int64_t(items))}, {kBlock}, 0, params);
  return true;
}

/// The kernel "fused_calls".
void run_fused(const KernelCall& call) {
  const FusedCalls& calls = *call.attributes<FusedAttributes>().calls;
  const std::shared_ptr<Made> made = made_of(calls);
  const bool runs = calls.columns > 0
                        ? run_rows(made->rows, made->variants[0])
                        : run_elements(*made, calls.calls.front()->tensor(0));
  if (runs) return;
  for (const KernelCall* each : calls.calls) each->run(DeviceType::kCUDA);
}

HOTARU_KERNEL(kCUDA, "fused_calls", run_fused);

}  // namespace

}  // namespace hotaru::cuda::jit
