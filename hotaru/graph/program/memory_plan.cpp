#include "hotaru/graph/program/memory_plan.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/core/pool.h"

namespace hotaru::graph {
namespace {

template <class F>
void for_each_storage(const Node& node, const F& f) {
  for (const Operand& operand : node.call().operands())
    if (!operand.object && operand.tensor->defined())
      f(*operand.tensor->storage());
}

size_t aligned(size_t nbytes) {
  constexpr size_t kMask = BlockPool::kAlignment - 1;
  return (nbytes + kMask) & ~kMask;
}

/// The lowest offset at which the value does not touch what lives with it.
size_t lowest_offset(const Placement& value,
                     const std::vector<Placement>& placed) {
  std::vector<const Placement*> together;
  for (const Placement& other : placed)
    if (other.first <= value.last && value.first <= other.last)
      together.push_back(&other);
  std::sort(together.begin(), together.end(),
            [](const Placement* a, const Placement* b) {
              return a->offset < b->offset;
            });
  size_t offset = 0;
  for (const Placement* other : together) {
    if (other->offset >= offset + aligned(value.nbytes)) break;
    offset = std::max(offset, other->offset + aligned(other->nbytes));
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

}  // namespace

MemoryPlan plan_memory(const Region& region) {
  const Nodes& nodes = region.nodes;
  MemoryPlan plan;
  std::vector<Placement> lives;
  std::unordered_map<const Storage*, size_t> index;
  std::vector<int64_t> change(nodes.size() + 1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto [first, last] = together(region, i);
    for_each_storage(*nodes[i], [&](Storage& s) {
      if (!region.values.contains(&s)) return;
      const auto [at, fresh] = index.try_emplace(&s, lives.size());
      if (fresh) lives.push_back({&s, s.nbytes(), first, last, 0});
      lives[at->second].last = last;
    });
  }
  for (const Placement& life : lives) {
    plan.total += aligned(life.nbytes);
    change[life.first] += int64_t(aligned(life.nbytes));
    change[life.last + 1] -= int64_t(aligned(life.nbytes));
  }
  int64_t alive = 0;
  for (const int64_t c : change)
    plan.peak = std::max(plan.peak, size_t(alive += c));
  std::stable_sort(lives.begin(), lives.end(),
                   [](const Placement& a, const Placement& b) {
                     return a.nbytes > b.nbytes;
                   });
  for (Placement& life : lives) {
    life.offset = lowest_offset(life, plan.placements);
    plan.nbytes = std::max(plan.nbytes, life.offset + aligned(life.nbytes));
    plan.placements.push_back(life);
  }
  return plan;
}

}  // namespace hotaru::graph
