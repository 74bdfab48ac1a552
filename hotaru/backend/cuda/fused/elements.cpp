#include "hotaru/backend/cuda/fused/elements.h"

#include <algorithm>
#include <array>

#include "hotaru/backend/cuda/fused/set_values.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/pointwise/fused.h"

namespace hotaru::cuda::fused {
namespace {

constexpr int kOperands = FusedParams::kMostOperands;

/// Tells whether every operand is elements side by side, in whole vectors, or
/// one.
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

bool are_of_one_shape(std::span<const KernelCall* const> calls) {
  return std::all_of(calls.begin(), calls.end(), [&](const KernelCall* call) {
    return (is_elementwise(*call) || is_channel_norm(*call)) &&
           same(call->tensor(0).sizes(), calls[0]->tensor(0).sizes());
  });
}

bool touches(std::span<const KernelCall* const> calls, const Storage* storage) {
  return std::any_of(calls.begin(), calls.end(), [&](const KernelCall* call) {
    const auto operands = call->operands();
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) {
      return o.tensor->defined() && o.tensor->storage().get() == storage;
    });
  });
}

}  // namespace

ElementKernels::ElementKernels(
    std::span<const KernelCall* const> calls,
    const std::unordered_set<const Storage*>& inner) {
  add(calls, inner);
}

void ElementKernels::add(std::span<const KernelCall* const> calls,
                         const std::unordered_set<const Storage*>& inner) {
  Part part;
  part.calls.assign(calls.begin(), calls.end());
  if (calls.size() > 1 && are_of_one_shape(calls))
    part.text = fused_text(calls, inner);
  if (calls.size() > 1 && part.text.dense.empty()) {
    const auto first = calls.first(calls.size() / 2),
               second = calls.subspan(first.size());
    auto inside = inner;  // of one half
    std::erase_if(inside, [&](const Storage* storage) {
      return touches(first, storage) && touches(second, storage);
    });
    add(first, inside);
    return add(second, inside);
  }
  part.dense = std::make_shared<BackgroundKernel>();
  part.strided = std::make_shared<BackgroundKernel>();
  parts_.push_back(std::move(part));
}

void ElementKernels::run() const {
  for (const Part& part : parts_)
    if (!run(part))
      for (const KernelCall* call : part.calls) call->run(DeviceType::kCUDA);
}

/// False, and nothing is launched, if there is no kernel yet.
bool ElementKernels::run(const Part& part) {
  const FusedText& text = part.text;
  const Tensor& shape = part.calls.front()->tensor(0);
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
      BackgroundKernel::ready(dense ? part.dense : part.strided,
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

}  // namespace hotaru::cuda::fused
