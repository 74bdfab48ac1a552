#include "hotaru/graph/passes/compute_once.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "hotaru/core/tensor.h"
#include "hotaru/graph/passes/known_kernels.h"
#include "hotaru/runtime/backend.h"

namespace hotaru::graph {
namespace {

// Values made of nothing are kept as long as the graph: only small ones.
constexpr size_t kMostBytes = size_t{1} << 20;
// Calls that lead to one value at most.
constexpr int kMaxDepth = 32;

/// Operands of a kernel that are weights, and no inputs: those from first to
/// last.
struct Weights {
  const KnownKernel& kernel;
  size_t first, last;
};
const Weights kWeights[] = {
    {known::kConvForward, 2, 3},
    {known::kMatmul, 2, 3},
    {known::kRnnLayer, 6, 10},
};

/// True if the call only puts elements into another order. Others may make
/// weights of a graph's inputs.
bool reorders(const KernelCall& call) {
  return is_any(call, known::kCat, known::kCopy);
}

class Mover {
 public:
  explicit Mover(Region& region) : region_(region) {
    for (size_t n = 0; n < region.nodes.size(); ++n)
      for (const Operand& operand : call(n).operands()) {
        if (operand.object || !operand.tensor->defined()) continue;
        Uses& uses = uses_[operand.tensor->storage().get()];
        ++uses.held;
        std::vector<size_t>& list =
            operand.writes() ? uses.writers : uses.readers;
        if (list.empty() || list.back() != n) list.push_back(n);
        if (operand.access == Access::kReadWrite) uses.updated = true;
      }
  }

  void run() {
    std::vector<size_t> moved;
    for (size_t n = 0; n < region_.nodes.size(); ++n) {
      for (const auto& weights : kWeights)
        if (is(call(n), weights.kernel))
          for (size_t i = weights.first; i <= weights.last; ++i)
            if (i < call(n).operands().size())
              take(call(n).tensor(i), true, moved);
      for (const Operand& operand : call(n).operands())
        if (!operand.object && operand.reads())
          take(*operand.tensor, false, moved);
    }
    move(std::move(moved));
  }

 private:
  struct Uses {
    std::vector<size_t> writers, readers;
    bool updated = false;
    int64_t held = 0;
  };

  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }

  /// Adds the calls that make a tensor, if all of them can go.
  void take(const Tensor& t, bool weight, std::vector<size_t>& moved) {
    if (!t.defined() || !region_.values.contains(t.storage().get())) return;
    std::vector<size_t> calls;
    if (can_go(*t.storage(), weight, calls, 0))
      moved.insert(moved.end(), calls.begin(), calls.end());
  }

  /// True if the calls that write a value can go, which are added to `calls`.
  bool can_go(const Storage& value, bool weight, std::vector<size_t>& calls,
              int depth) {
    const Uses& uses = uses_.at(&value);
    if (depth > kMaxDepth || uses.updated || uses.writers.empty() ||
        (!weight && value.nbytes() > kMostBytes))
      return false;
    // Nobody may look before it is whole.
    if (!uses.readers.empty() && uses.readers.front() <= uses.writers.back())
      return false;
    for (const size_t n : uses.writers) {
      if (std::find(calls.begin(), calls.end(), n) != calls.end()) continue;
      if (weight && !reorders(call(n))) return false;
      calls.push_back(n);
      for (const Operand& operand : call(n).operands()) {
        if (operand.object) return false;  // a generator moves on
        if (!operand.tensor->defined()) continue;
        const Storage& other = *operand.tensor->storage();
        if (&other == &value) continue;
        if (region_.values.contains(&other)) {
          if (!can_go(other, weight, calls, depth + 1)) return false;
        } else if (operand.writes() || !region_.lasts(*operand.tensor) ||
                   !(weight || nobody_elses(other))) {
          return false;
        }
      }
    }
    return true;
  }

  /// A number that the captured code made of Python's: nobody can change it.
  bool nobody_elses(const Storage& storage) const {
    return storage.use_count() == uses_.at(&storage).held;
  }

  void move(std::vector<size_t> moved) {
    std::sort(moved.begin(), moved.end());
    moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
    std::unordered_map<const Storage*, Ref<Storage>> kept;
    for (const size_t n : moved)
      for (const Operand& operand : call(n).operands())
        if (operand.writes() && operand.tensor->defined())
          kept.try_emplace(operand.tensor->storage().get(), nullptr);
    for (auto& [value, memory] : kept) {
      memory = allocate(Dims{int64_t(value->nbytes())}, DType::kUInt8,
                        region_.device)
                   .storage();
      region_.values.erase(value);
    }
    for (const auto& node : region_.nodes)
      for (const Operand& operand : node->call().operands()) {
        if (operand.object || !operand.tensor->defined()) continue;
        const auto found = kept.find(operand.tensor->storage().get());
        if (found != kept.end())
          operand.tensor->impl()->storage = found->second;
      }
    for (const size_t n : moved)
      region_.once.push_back(std::move(region_.nodes[n]));
    std::erase(region_.nodes, nullptr);
  }

  Region& region_;
  std::unordered_map<const Storage*, Uses> uses_;
};

}  // namespace

void compute_once(Region& region) {
  Mover(region).run();
}

}  // namespace hotaru::graph
