#include "hotaru/graph/passes/round_pictures.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/remade_weights.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

// Operands of "blocked_conv".
constexpr size_t kY = 0, kX = 1, kWeight = 2, kResidual = 4;

RemadeWeights::Form paired_form(const Tensor& packed,
                                const BlockedWeightAttributes& a) {
  return {allocate(Dims{packed.numel()}, DType::kBFloat16, Device{}),
          {a.depthwise, a.plain_input, a.eps, true}};
}

class Rounder {
 public:
  explicit Rounder(Region& region)
      : region_(region),
        weights_(region, kernel("blocked_weight"), &paired_form) {}

  void run() {
    for (const auto& node : region_.nodes)
      takes_.push_back(takes(node->call()));
    if (std::find(takes_.begin(), takes_.end(), true) == takes_.end()) return;
    find_uses();
    find_kept();
    Nodes old = std::exchange(region_.nodes, {});
    for (size_t i = 0; i < old.size(); ++i) {
      for (const Operand& operand : old[i]->call().operands())
        if (operand.writes()) rounded_.erase(operand.ordered());
      region_.nodes.push_back(takes_[i] || is_kept(old[i]->call())
                                  ? changed(old[i]->call(), takes_[i])
                                  : std::move(old[i]));
    }
    weights_.drop_unread();
  }

 private:
  struct Use {
    std::vector<std::pair<size_t, size_t>> reads;  // nodes and operands
    std::vector<size_t> writers;
  };

  static bool blocked(const KernelCall& call) {
    static const Kernel& kernel = hotaru::kernel("blocked_conv");
    return &call.kernel() == &kernel &&
           !call.attributes<BlockedConvAttributes>().depthwise;
  }

  bool takes(const KernelCall& call) {
    if (!blocked(call)) return false;
    const auto& a = call.attributes<BlockedConvAttributes>();
    return a.conv.bf16 && !a.plain_input &&
           call.tensor(kX).dtype() == DType::kFloat32 &&
           weights_.of(call.tensor(kWeight)).defined();
  }

  void find_uses() {
    for (size_t i = 0; i < region_.nodes.size(); ++i) {
      const auto operands = region_.nodes[i]->call().operands();
      for (size_t o = 0; o < operands.size(); ++o) {
        if (!operands[o].ordered()) continue;
        Use& use = uses_[operands[o].ordered()];
        if (operands[o].reads()) use.reads.emplace_back(i, o);
        if (operands[o].writes()) use.writers.push_back(i);
      }
    }
  }

  /// From the last one on, as a residual is what its convolution's result is.
  void find_kept() {
    for (size_t i = region_.nodes.size(); i-- > 0;) {
      const KernelCall& call = region_.nodes[i]->call();
      if (!blocked(call)) continue;
      const Tensor& y = call.tensor(kY);
      const bool residual = call.tensor(kResidual).defined();
      if (keeps(y) && (takes_[i] || !residual))
        kept_.emplace(y.storage().get(),
                      region_.make_value(y.sizes(), DType::kBFloat16));
    }
  }

  bool keeps(const Tensor& y) const {
    if (!region_.values.contains(y.storage().get()) || !whole(y)) return false;
    const Use& use = uses_.at(y.storage().get());
    if (use.writers.size() != 1) return false;
    return std::all_of(use.reads.begin(), use.reads.end(), [&](const auto& at) {
      const auto& [node, operand] = at;
      if (!takes_[node]) return false;
      const Storage* result =
          region_.nodes[node]->call().tensor(kY).storage().get();
      return operand == kX || kept_.contains(result);
    });
  }

  bool is_kept(const KernelCall& call) const {
    return blocked(call) && kept_.contains(call.tensor(kY).storage().get());
  }

  /// x as bfloat16.
  Tensor half(const Tensor& x) {
    const Storage* storage = x.storage().get();
    if (const auto at = kept_.find(storage); at != kept_.end())
      return at->second;
    const auto [at, fresh] = rounded_.try_emplace(storage);
    if (fresh) {
      static const Kernel& kernel = hotaru::kernel("copy_");
      at->second = region_.make_value(x.sizes(), DType::kBFloat16);
      const Operand operands[] = {write(at->second), read(x)};
      region_.nodes.push_back(
          std::make_unique<Node>(KernelCall(kernel, operands)));
    }
    return at->second;
  }

  std::unique_ptr<Node> changed(const KernelCall& call, bool products) {
    const bool keeps = is_kept(call);
    Tensor y = call.tensor(kY), x = call.tensor(kX), w = call.tensor(kWeight),
           residual = call.tensor(kResidual);
    if (products) {
      x = half(x);
      w = weights_.of(w);
    }
    if (keeps) {
      y = kept_.at(y.storage().get());
      if (residual.defined()) residual = half(residual);
    }
    const Operand operands[] = {write(y), read(x), read(w),
                                call.operands()[kWeight + 1], read(residual)};
    return std::make_unique<Node>(KernelCall(
        call.kernel(), operands, call.attributes<BlockedConvAttributes>()));
  }

  Region& region_;
  RemadeWeights weights_;
  std::vector<bool> takes_;
  std::unordered_map<const Ordered*, Use> uses_;
  /// What is computed as bfloat16, and what copies there are of the rest.
  std::unordered_map<const Storage*, Tensor> kept_;
  std::unordered_map<const Ordered*, Tensor> rounded_;
};

}  // namespace

void round_pictures(Region& region) {
  if (simd_has_bf16_products()) Rounder(region).run();
}

}  // namespace hotaru::graph
