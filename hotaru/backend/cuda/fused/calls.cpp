#include <array>
#include <span>

#include "hotaru/backend/cuda/fused/attention.h"
#include "hotaru/backend/cuda/fused/attention_text.h"
#include "hotaru/backend/cuda/fused/element_text.h"
#include "hotaru/backend/cuda/fused/pending.h"
#include "hotaru/backend/cuda/fused/reduce.h"
#include "hotaru/backend/cuda/fused/rows.h"
#include "hotaru/backend/cuda/fused/set_values.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"

namespace hotaru::cuda::fused {
namespace {

/// What a group of calls has become: of elements, of rows, or of elements that
/// the last call reduces.
struct Made {
  FusedText elements;
  RowText rows;
  ReduceText reduce;
  static std::shared_ptr<BackgroundKernel> kernel() {
    return std::make_shared<BackgroundKernel>();
  }
  const std::shared_ptr<BackgroundKernel> dense = kernel(), strided = kernel(),
                                          of_rows = kernel(),
                                          of_reduce = kernel();
};

/// Without its last call a group is of elements, which that one reads.
std::shared_ptr<Made> made_of_reduction(const FusedCalls& calls) {
  auto made = std::make_shared<Made>();
  made->reduce = reduce_text(calls);
  auto inner = calls.inner;
  inner.erase(calls.calls.back()->tensor(1).storage().get());
  made->elements =
      fused_text(std::span(calls.calls).first(calls.calls.size() - 1), inner);
  return made;
}

std::shared_ptr<Made> made_of(const FusedCalls& calls) {
  const std::lock_guard lock(calls.mutex);
  if (!calls.made) {
    auto made = std::make_shared<Made>();
    if (calls.reduces)
      made = made_of_reduction(calls);
    else if (calls.columns > 0)
      made->rows = row_text(calls);
    else
      made->elements = fused_text(calls.calls, calls.inner);
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
  const auto* const program =
      BackgroundKernel::ready(dense ? made.dense : made.strided,
                              dense ? text.dense : text.strided, device);
  if (!program) return false;
  FusedParams p;
  for (size_t k = 0; k < text.values.operands.size(); ++k)
    p.address[k] = all.address[k];
  p.numel = uint32_t(all.numel());
  if (!dense) p.index = all.index();
  set_values(p, text.values);
  const uint32_t items =
      dense ? kBlock * fused_length(text.values.item) : kBlock;
  launch_fused(*program, device, {blocks_for(int64_t(p.numel), int64_t(items))},
               &p);
  return true;
}

void run_each(std::span<const KernelCall* const> calls) {
  for (const KernelCall* call : calls) call->run(DeviceType::kCUDA);
}

/// The kernel "fused_calls".
void run_fused(const KernelCall& call) {
  const FusedCalls& calls = *call.attributes<FusedAttributes>().calls;
  const std::span<const KernelCall* const> all = calls.calls;
  if (has_epilogue(*all.front())) {
    if (!run_fused_attention(calls)) run_each(all);
    return;
  }
  const std::shared_ptr<Made> made = made_of(calls);
  const Tensor& first = all.front()->tensor(0);
  if (calls.reduces) {
    if (run_reduce(made->reduce, *all.back(), made->of_reduce)) return;
    const auto elements = all.first(all.size() - 1);
    if (elements.size() < 2 || !run_elements(*made, first)) run_each(elements);
    return run_each(all.last(1));
  }
  if (!(calls.columns > 0 ? run_rows(made->rows, made->of_rows)
                          : run_elements(*made, first)))
    run_each(all);
}

HOTARU_KERNEL(kCUDA, "fused_calls", run_fused);

}  // namespace

}  // namespace hotaru::cuda::fused
