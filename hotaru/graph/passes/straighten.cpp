#include "hotaru/graph/passes/straighten.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/backend/common/elementwise.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/graph/passes/uses.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::graph {
namespace {

class Straightener {
 public:
  explicit Straightener(Region& region) : region_(region) {
    for (size_t n = 0; n < region.nodes.size(); ++n) {
      const auto operands = call(n).operands();
      for (size_t o = 0; o < operands.size(); ++o) {
        if (!ordered_of(operands[o]) || operands[o].object) continue;
        const Storage* storage = operands[o].tensor->storage().get();
        if (!region.values.contains(storage)) continue;
        Value& value = values_[storage];
        if (value.uses.empty()) order_.push_back(storage);
        value.uses.push_back({n, o});
        value.writers += operands[o].writes();
      }
    }
  }

  void run() {
    for (const Storage* storage : order_)
      if (pays(values_.at(storage))) straighten(values_.at(storage));
    for (size_t n = 0; n < region_.nodes.size(); ++n)
      if (is(call(n), known::kCopy)) leave_out(n);
    std::erase(region_.nodes, nullptr);
  }

 private:
  struct Use {
    size_t node, operand;
  };
  struct Value {
    std::vector<Use> uses;
    int writers = 0;
  };

  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }
  const Tensor& tensor(const Use& use) const {
    return *call(use.node).operands()[use.operand].tensor;
  }

  /// Tells whether all who touch a value let it lie as it will, and more of
  /// what they meet lies row by row than as it does.
  bool pays(const Value& value) const {
    const Tensor& first = tensor(value.uses[0]);
    if (first.is_contiguous() || first.storage_offset() != 0 ||
        size_t(first.numel()) * itemsize(first.dtype()) !=
            first.storage()->nbytes())
      return false;
    int balance = 0;
    for (const Use& use : value.uses) {
      const KernelCall& user = call(use.node);
      if (!is(user, known::kCopy) && !elementwise_function(user.kernel()))
        return false;
      if (!same_layout(tensor(use), first)) return false;
      for (const Operand& operand : user.operands()) {
        if (operand.object || !operand.tensor->defined()) continue;
        const Tensor& t = *operand.tensor;
        if (t.storage() == first.storage() || t.numel() != first.numel())
          continue;
        balance += t.is_contiguous() ? 1 : -1;
      }
    }
    return balance > 0;
  }

  void straighten(const Value& value) {
    const Dims sizes(tensor(value.uses[0]).sizes());
    for (const Use& use : value.uses)
      tensor(use).impl()->set_geometry(sizes, contiguous_strides(sizes), 0);
  }

  /// A copy of a value to another one which nobody could tell from it.
  void leave_out(size_t n) {
    const Tensor &to = call(n).tensor(0), &from = call(n).tensor(1);
    const auto target = values_.find(to.storage().get()),
               source = values_.find(from.storage().get());
    if (target == values_.end() || source == values_.end() ||
        target == source || !same_layout(to, from) || !whole(to) ||
        !whole(from) || target->second.writers != 1 ||
        source->second.writers != 1)
      return;
    const Tensor kept = make_alias(from);
    for (const Use& use : target->second.uses) {
      if (use.node == n) continue;
      tensor(use).impl()->storage = kept.storage();
      source->second.uses.push_back(use);
    }
    region_.nodes[n].reset();
    std::erase_if(source->second.uses,
                  [n](const Use& use) { return use.node == n; });
    values_.erase(target);
  }

  Region& region_;
  std::unordered_map<const Storage*, Value> values_;
  std::vector<const Storage*> order_;  // of their first uses
};

}  // namespace

void straighten(Region& region) {
  Straightener(region).run();
}

}  // namespace hotaru::graph
