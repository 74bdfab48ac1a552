#include "hotaru/graph/passes/pictures/remade_weights.h"

#include <algorithm>
#include <unordered_set>

#include "hotaru/runtime/operand.h"

namespace hotaru::graph {

Tensor RemadeWeights::of(const Tensor& packed) {
  const auto [at, fresh] = made_.try_emplace(packed.storage().get());
  if (!fresh) return at->second;
  const auto source = std::find_if(
      region_.once.begin(), region_.once.end(), [&](const auto& node) {
        return node->call().tensor(0).storage() == packed.storage();
      });
  if (source == region_.once.end()) return {};
  const KernelCall& call = (*source)->call();
  auto [weight, attributes] = change_(
      packed, call.tensor(2), call.attributes<BlockedWeightAttributes>());
  at->second = weight;
  std::vector<Operand> operands(call.operands().begin(), call.operands().end());
  operands[0] = write(at->second);
  region_.once.push_back(
      std::make_unique<Node>(KernelCall(kernel_, operands, attributes)));
  return at->second;
}

void RemadeWeights::drop_unread() {
  std::unordered_set<const Ordered*> read;
  for (const auto& node : region_.nodes)
    for (const Operand& operand : node->call().operands())
      if (operand.reads() && ordered_of(operand))
        read.insert(ordered_of(operand));
  std::erase_if(region_.once, [&](const auto& once) {
    const Storage* packed = once->call().tensor(0).storage().get();
    return made_.contains(packed) && !read.contains(packed);
  });
}

}  // namespace hotaru::graph
