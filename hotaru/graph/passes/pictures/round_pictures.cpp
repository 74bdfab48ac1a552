#include "hotaru/graph/passes/pictures/round_pictures.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/backend/common/pool/pool.h"
#include "hotaru/backend/common/resample/resample.h"
#include "hotaru/backend/common/shape/join.h"
#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/pictures/remade_weights.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::graph {
namespace {

// Operands of "blocked_conv".
constexpr size_t kY = 0, kX = 1, kWeight = 2, kResidual = 4;

RemadeWeights::Form paired_form(const Tensor&, const Tensor& w,
                                const BlockedWeightAttributes& a) {
  BlockedWeightAttributes pairs = a;
  pairs.pairs = true;
  return {allocate(Dims{blocked_weight_size(w.sizes(), pairs)},
                   DType::kBFloat16, Device{}),
          pairs};
}

class Rounder {
 public:
  explicit Rounder(Region& region)
      : region_(region),
        weights_(region, known::kBlockedWeight, &paired_form) {}

  void run() {
    for (const auto& node : region_.nodes)
      takes_.push_back(takes(node->call()));
    if (std::find(takes_.begin(), takes_.end(), true) == takes_.end()) return;
    find_uses();
    find_kept();
    Nodes old = std::exchange(region_.nodes, {});
    for (size_t i = 0; i < old.size(); ++i) {
      for (const Operand& operand : old[i]->call().operands())
        if (operand.writes()) rounded_.erase(ordered_of(operand));
      const KernelCall& call = old[i]->call();
      const bool reads = widens(call) && kept(call.tensor(kX)).defined();
      region_.nodes.push_back(!takes_[i] && !is_kept(call) && !reads
                                  ? std::move(old[i])
                              : blocked(call) ? changed(call, takes_[i])
                                              : moved(call));
    }
    weights_.drop_unread();
  }

 private:
  struct Use {
    std::vector<std::pair<size_t, size_t>> reads;  // nodes and operands
    std::vector<size_t> writers;
  };

  static bool blocked(const KernelCall& call) {
    return is(call, known::kBlockedConv);
  }

  /// Calls whose results are numbers of what they read, or means of them.
  static bool moves(const KernelCall& call) {
    if (!is_any(call, known::kCat, known::kCopy, known::kBlockedMaxPool,
                known::kBlockedAvgPool))
      return false;
    for (const Operand& operand : call.operands())
      if (!operand.tensor->defined() ||
          operand.tensor->dtype() != DType::kFloat32)
        return false;
    const Tensor& y = call.tensor(kY);
    return size_t(y.numel()) * sizeof(float) == y.storage()->nbytes();
  }

  bool takes(const KernelCall& call) {
    if (!blocked(call)) return false;
    const auto& a = call.attributes<BlockedConvAttributes>();
    // A plain picture's pairs are of columns.
    return a.conv.bf16 && !a.depthwise &&
           (!a.plain_input || a.kernel.back() > 1) &&
           call.tensor(kX).dtype() == DType::kFloat32 &&
           weights_.of(call.tensor(kWeight)).defined();
  }

  static bool is_plain(const KernelCall& call) {
    return blocked(call) &&
           call.attributes<BlockedConvAttributes>().plain_input;
  }

  /// A call that reads a picture of bfloat16 as it is and multiplies floats.
  static bool widens(const KernelCall& call) {
    if (!blocked(call)) return false;
    const auto& a = call.attributes<BlockedConvAttributes>();
    return a.conv.bf16 && a.depthwise;
  }

  void find_uses() {
    for (size_t i = 0; i < region_.nodes.size(); ++i) {
      const auto operands = region_.nodes[i]->call().operands();
      for (size_t o = 0; o < operands.size(); ++o) {
        if (!ordered_of(operands[o])) continue;
        Use& use = uses_[ordered_of(operands[o])];
        if (operands[o].reads()) use.reads.emplace_back(i, o);
        if (operands[o].writes()) use.writers.push_back(i);
      }
    }
  }

  /// From the last one on, as a residual is what its convolution's result is.
  void find_kept() {
    for (size_t i = region_.nodes.size(); i-- > 0;) {
      const KernelCall& call = region_.nodes[i]->call();
      const bool conv = blocked(call);
      if (!conv && !moves(call)) continue;
      const Tensor& y = call.tensor(kY);
      if (keeps(y) && (!conv || takes_[i] || !call.tensor(kResidual).defined()))
        kept_.emplace(y.storage().get(),
                      region_.make_value(Dims{y.numel()}, DType::kBFloat16));
    }
  }

  /// True if y is kept; what nobody reads has been left out before.
  bool keeps(const Tensor& y) const {
    if (!region_.values.contains(y.storage().get())) return false;
    const Use& use = uses_.at(y.storage().get());
    if (use.writers.size() != 1 || use.reads.empty()) return false;
    return std::all_of(use.reads.begin(), use.reads.end(), [&](const auto& at) {
      const auto& [node, operand] = at;
      const KernelCall& call = region_.nodes[node]->call();
      const bool kept = kept_.contains(call.tensor(kY).storage().get());
      if (is_plain(call)) return false;
      return takes_[node] || widens(call) ? operand == kX || kept
                                          : kept && moves(call);
    });
  }

  bool is_kept(const KernelCall& call) const {
    return (blocked(call) || moves(call)) &&
           kept_.contains(call.tensor(kY).storage().get());
  }

  /// Where its numbers are as bfloat16; undefined: nowhere.
  Tensor kept(const Tensor& x) const {
    const auto at = kept_.find(x.storage().get());
    if (at == kept_.end()) return {};
    return make_tensor(at->second.storage(), DType::kBFloat16, x.sizes(),
                       x.strides(), x.storage_offset());
  }

  /// x as bfloat16.
  Tensor half(const Tensor& x) {
    const Storage* storage = x.storage().get();
    if (Tensor there = kept(x); there.defined()) return there;
    const auto [at, fresh] = rounded_.try_emplace(storage);
    if (fresh) {
      at->second = region_.make_value(x.sizes(), DType::kBFloat16);
      const Operand operands[] = {write(at->second), read(x)};
      region_.nodes.push_back(
          std::make_unique<Node>(KernelCall(known::kCopy, operands)));
    }
    return at->second;
  }

  std::unique_ptr<Node> changed(const KernelCall& call, bool products) {
    const bool keeps = is_kept(call);
    Tensor y = call.tensor(kY), x = call.tensor(kX), w = call.tensor(kWeight),
           residual = call.tensor(kResidual);
    if (products) {
      if (!is_plain(call)) x = half(x);
      w = weights_.of(w);
    } else if (const Tensor there = kept(x); there.defined()) {
      x = there;
    }
    if (keeps) {
      y = kept(y);
      if (residual.defined()) residual = half(residual);
    }
    const Operand operands[] = {write(y), read(x), read(w),
                                call.operands()[kWeight + 1], read(residual)};
    return std::make_unique<Node>(KernelCall(
        call.kernel(), operands, call.attributes<BlockedConvAttributes>()));
  }

  /// A call that moves numbers, with those of bfloat16.
  std::unique_ptr<Node> moved(const KernelCall& call) {
    const bool copies = is(call, known::kCopy);
    std::vector<Tensor> tensors{kept(call.tensor(kY))};
    for (const Operand& operand : call.operands().subspan(1))
      // A copy rounds on its way.
      tensors.push_back(copies && !kept(*operand.tensor).defined()
                            ? *operand.tensor
                            : half(*operand.tensor));
    std::vector<Operand> operands{write(tensors[0])};
    for (size_t i = 1; i < tensors.size(); ++i)
      operands.push_back(read(tensors[i]));
    if (copies)
      return std::make_unique<Node>(KernelCall(known::kCopy, operands));
    if (is(call, known::kCat))
      return std::make_unique<Node>(
          KernelCall(known::kCat, operands, call.attributes<CatAttributes>()));
    if (is(call, known::kBlockedAvgPool))
      return std::make_unique<Node>(
          KernelCall(known::kBlockedAvgPool, operands,
                     call.attributes<ResampleAttributes>()));
    return std::make_unique<Node>(KernelCall(
        call.kernel(), operands, call.attributes<MaxPoolAttributes>()));
  }

  Region& region_;
  RemadeWeights weights_;
  std::vector<bool> takes_;
  std::unordered_map<const Ordered*, Use> uses_;
  /// Pictures computed as bfloat16, and what copies there are of the rest.
  std::unordered_map<const Storage*, Tensor> kept_;
  std::unordered_map<const Ordered*, Tensor> rounded_;
};

}  // namespace

void round_pictures(Region& region) {
  if (simd_has_bf16_products()) Rounder(region).run();
}

}  // namespace hotaru::graph
