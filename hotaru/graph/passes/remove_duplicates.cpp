// The pass that leaves out elementwise calls which compute what another one
// computes. Other kernels' attributes can't be compared.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "hotaru/backend/common/elementwise.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/passes.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::graph {
namespace {

// Calls that the search for an equal one goes back, and like ones it looks at:
// limits how long the pass takes.
constexpr size_t kMaxDistance = 1024, kMaxTries = 32;

class Duplicates {
 public:
  explicit Duplicates(Region& region) : region_(region) {
    for (const auto& node : region.nodes)
      for (const Operand& operand : node->call().operands())
        if (operand.writes() && ordered_of(operand))
          ++writers_[ordered_of(operand)];
  }

  void run() {
    // Calls by kernel and first input.
    std::map<std::pair<const Kernel*, const Ordered*>, std::vector<size_t>>
        known;
    for (size_t i = 0; i < region_.nodes.size(); ++i) {
      replace_operands(region_.nodes[i]->call());
      const KernelCall& call = region_.nodes[i]->call();
      touches_.push_back(touches_of(call));
      loops_.push_back(loop_of(call));
      if (!loops_[i]) continue;
      const Ordered* input =
          call.operands().size() > 1 ? ordered_of(call.operands()[1]) : nullptr;
      std::vector<size_t>& same_start = known[{&call.kernel(), input}];
      const auto end = same_start.rbegin() +
                       ptrdiff_t(std::min(same_start.size(), kMaxTries));
      const auto earlier =
          std::find_if(same_start.rbegin(), end, [&](size_t k) {
            return i - k <= kMaxDistance && computes_the_same(k, i);
          });
      if (earlier == end) {
        same_start.push_back(i);
        continue;
      }
      const Ref<Storage>& kept = result(*earlier).storage();
      region_.values.erase(result(i).storage().get());
      replaced_.emplace(result(i).storage().get(), kept);
      region_.nodes[i].reset();
      touches_[i].clear();
    }
    std::erase(region_.nodes, nullptr);
  }

 private:
  const Tensor& result(size_t i) const {
    return region_.nodes[i]->call().tensor(0);
  }

  /// For calls that write one value, of which nobody else writes a part.
  std::optional<Elementwise> loop_of(const KernelCall& call) const {
    const ElementwiseFunction function = elementwise_function(call.kernel());
    const auto operands = call.operands();
    if (!function || operands.empty()) return {};
    for (const Operand& operand : operands)
      if (operand.object || !operand.tensor->defined()) return {};
    const Storage& out = *operands[0].tensor->storage();
    if (operands[0].access != Access::kWrite || !out.pending() ||
        writers_.at(&out) != 1)
      return {};
    for (const Operand& operand : operands.subspan(1))
      if (operand.writes() || ordered_of(operand) == &out) return {};
    return function(call);
  }

  bool computes_the_same(size_t earlier, size_t i) const {
    const KernelCall& a = region_.nodes[earlier]->call();
    const KernelCall& b = region_.nodes[i]->call();
    const Tensor &x = a.tensor(0), &y = b.tensor(0);
    if (!loops_[earlier]->same(*loops_[i]) ||
        a.operands().size() != b.operands().size() ||
        !region_.values.contains(y.storage().get()) ||
        x.storage()->nbytes() != y.storage()->nbytes() ||
        x.dtype() != y.dtype() || x.storage_offset() != y.storage_offset() ||
        !same(x.sizes(), y.sizes()) || !same(x.strides(), y.strides()))
      return false;
    for (size_t k = 1; k < a.operands().size(); ++k)
      if (!same_elements(a.tensor(k), b.tensor(k))) return false;
    // Neither what it reads nor what it wrote has changed since.
    return std::none_of(
        touches_.begin() + ptrdiff_t(earlier) + 1, touches_.end(),
        [&](const Touches& t) {
          return std::any_of(t.begin(), t.end(), [&](const Touch& touch) {
            return touch.writes && touch_reads(earlier, touch);
          });
        });
  }

  bool touch_reads(size_t i, const Touch& other) const {
    return std::any_of(
        touches_[i].begin(), touches_[i].end(),
        [&](const Touch& t) { return !t.writes && t.overlaps(other); });
  }

  /// A call's own tensors look into the values that were kept.
  void replace_operands(const KernelCall& call) const {
    for (const Operand& operand : call.operands()) {
      if (operand.object || !operand.tensor->defined()) continue;
      const auto at = replaced_.find(ordered_of(operand));
      if (at != replaced_.end()) operand.tensor->impl()->storage = at->second;
    }
  }

  Region& region_;
  std::unordered_map<const Ordered*, int> writers_;
  /// Touches of the calls so far.
  std::vector<Touches> touches_;
  std::vector<std::optional<Elementwise>> loops_;
  std::unordered_map<const Ordered*, Ref<Storage>> replaced_;
};

}  // namespace

void remove_duplicates(Region& region) {
  Duplicates(region).run();
}

}  // namespace hotaru::graph
