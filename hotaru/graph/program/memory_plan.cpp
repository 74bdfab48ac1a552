#include "hotaru/graph/program/memory_plan.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/core/memory/pool.h"
#include "hotaru/core/tensor.h"

namespace hotaru::graph {
namespace {

template <class F>
void for_each_storage(const Node& node, const F& f) {
  for (const Operand& operand : node.call().operands())
    if (!operand.object && operand.tensor->defined())
      f(*operand.tensor->storage());
}

/// Where values of other devices than the CPU begin: at multiples of the
/// widest accesses that libraries ask for.
constexpr size_t kDeviceAlignment = 256;

size_t aligned(size_t nbytes, size_t alignment) {
  return (nbytes + alignment - 1) & ~(alignment - 1);
}

/// The lowest offset at which the value does not touch what lives with it.
template <class LivesWith>
size_t lowest_offset(const Placement& value,
                     const std::vector<Placement>& placed, size_t alignment,
                     const LivesWith& lives_with) {
  std::vector<const Placement*> together;
  for (const Placement& other : placed)
    if (lives_with(value, other)) together.push_back(&other);
  std::sort(together.begin(), together.end(),
            [](const Placement* a, const Placement* b) {
              return a->offset < b->offset;
            });
  size_t offset = 0;
  for (const Placement* other : together) {
    if (other->offset >= offset + aligned(value.nbytes, alignment)) break;
    offset =
        std::max(offset, other->offset + aligned(other->nbytes, alignment));
  }
  return offset;
}

}  // namespace

std::unordered_set<const Storage*> intermediates(const Nodes& nodes) {
  std::unordered_map<const Storage*, int64_t> held;
  for (const auto& node : nodes)
    for_each_storage(*node, [&](const Storage& s) { ++held[&s]; });
  std::unordered_set<const Storage*> out;
  for (const auto& [storage, count] : held)
    if (storage->pending() && storage->use_count() == count)
      out.insert(storage);
  return out;
}

namespace {

/// First and last node of the stretch that node i is part of, or itself.
std::pair<size_t, size_t> together(const Region& region, size_t i) {
  const auto after =
      std::upper_bound(region.stretches.begin(), region.stretches.end(), i,
                       [](size_t n, const Stretch& s) { return n < s.end; });
  if (after == region.stretches.end() || i < after->begins.front())
    return {i, i};
  return {after->begins.front(), after->end - 1};
}

/// The renewed results that can be placed: without memory still, and written
/// and not read by the first node that touches them.
std::unordered_set<const Storage*> renewed_by(const Region& region) {
  std::unordered_set<const Storage*> seen, out;
  if (region.renewed.empty()) return out;
  for (const auto& node : region.once)
    for_each_storage(*node, [&](const Storage& s) { seen.insert(&s); });
  for (const auto& node : region.nodes) {
    for (const Operand& operand : node->call().operands())
      if (operand.reads() && !operand.object && operand.tensor->defined())
        seen.insert(operand.tensor->storage().get());
    for_each_storage(*node, [&](const Storage& s) {
      if (seen.insert(&s).second && s.pending() && region.renewed.contains(&s))
        out.insert(&s);
    });
  }
  return out;
}

/// The values, and those results, each with its first node and its last.
std::vector<Placement> lives_of(
    const Region& region, const std::unordered_set<const Storage*>& renewed) {
  const Nodes& nodes = region.nodes;
  std::vector<Placement> lives;
  std::unordered_map<const Storage*, size_t> index;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto [first, last] = together(region, i);
    for_each_storage(*nodes[i], [&](Storage& s) {
      const bool stays = renewed.contains(&s);
      if (!stays && !region.values.contains(&s)) return;
      const auto [at, fresh] = index.try_emplace(&s, lives.size());
      if (fresh) lives.push_back({&s, s.nbytes(), first, last, 0, stays});
      lives[at->second].last = stays ? nodes.size() - 1 : last;
    });
  }
  return lives;
}

template <class LivesWith>
MemoryPlan plan_of(std::vector<Placement> lives, size_t nodes, size_t alignment,
                   const LivesWith& lives_with) {
  const auto bytes = [&](const Placement& value) {
    return aligned(value.nbytes, alignment);
  };
  MemoryPlan plan;
  std::vector<int64_t> change(nodes + 1);
  for (const Placement& life : lives) {
    plan.total += bytes(life);
    change[life.first] += int64_t(bytes(life));
    change[life.last + 1] -= int64_t(bytes(life));
  }
  int64_t alive = 0;
  for (const int64_t c : change)
    plan.peak = std::max(plan.peak, size_t(alive += c));
  std::stable_sort(lives.begin(), lives.end(),
                   [](const Placement& a, const Placement& b) {
                     return a.nbytes > b.nbytes;
                   });
  for (Placement& life : lives) {
    life.offset = lowest_offset(life, plan.placements, alignment, lives_with);
    plan.nbytes = std::max(plan.nbytes, life.offset + bytes(life));
    plan.placements.push_back(life);
  }
  return plan;
}

template <class LivesWith>
MemoryPlan plan_of(const Region& region, size_t alignment,
                   const LivesWith& lives_with) {
  const size_t nodes = region.nodes.size();
  MemoryPlan plan = plan_of(lives_of(region, {}), nodes, alignment, lives_with);
  const auto renewed = renewed_by(region);
  if (renewed.empty()) return plan;
  MemoryPlan all =
      plan_of(lives_of(region, renewed), nodes, alignment, lives_with);
  size_t results = 0;
  for (const Storage* result : renewed)
    results += aligned(result->nbytes(), alignment);
  // Two graphs: 2 * all against values once and results twice.
  if (2 * all.nbytes > plan.nbytes + 2 * results) return plan;
  all.renewed = true;
  return all;
}

/// The nodes that touch a value, ascending, where their order is one of some.
class Touchers {
 public:
  Touchers(const Region& region, const CallOrder& order) : order_(order) {
    for (size_t i = 0; i < region.nodes.size(); ++i)
      for_each_storage(*region.nodes[i], [&](const Storage& s) {
        if (!region.values.contains(&s) && !region.renewed.contains(&s)) return;
        std::vector<size_t>& nodes = of_[&s].all;
        if (nodes.empty() || nodes.back() != i) nodes.push_back(i);
      });
    for (auto& [storage, ends] : of_) find_ends(ends);
  }
  bool lives_with(const Placement& a, const Placement& b) const {
    const Ends &x = of_.at(a.storage), &y = of_.at(b.storage);
    return (a.renewed || !comes_after(y, x)) &&
           (b.renewed || !comes_after(x, y));
  }

 private:
  struct Ends {
    std::vector<size_t> all, first, last;
  };

  void find_ends(Ends& ends) const {
    for (const size_t i : ends.all) {
      const auto none = [&](const auto& precedes) {
        return std::none_of(ends.all.begin(), ends.all.end(), precedes);
      };
      if (none([&](size_t j) { return order_.precedes(j, i); }))
        ends.first.push_back(i);
      if (none([&](size_t j) { return order_.precedes(i, j); }))
        ends.last.push_back(i);
    }
  }
  bool comes_after(const Ends& later, const Ends& earlier) const {
    for (const size_t a : earlier.last)
      for (const size_t b : later.first)
        if (!order_.precedes(a, b)) return false;
    return true;
  }

  const CallOrder& order_;
  std::unordered_map<const Storage*, Ends> of_;
};

}  // namespace

MemoryPlan plan_memory(const Region& region) {
  return plan_of(region, BlockPool::kAlignment,
                 [](const Placement& a, const Placement& b) {
                   return a.first <= b.last && b.first <= a.last;
                 });
}

MemoryPlan plan_memory(const Region& region, const CallOrder& order) {
  const Touchers touchers(region, order);
  return plan_of(region, kDeviceAlignment,
                 [&](const Placement& a, const Placement& b) {
                   return touchers.lives_with(a, b);
                 });
}

}  // namespace hotaru::graph
