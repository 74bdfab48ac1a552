#include "hotaru/graph/passes/fuse_pointwise.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/restated.h"
#include "hotaru/graph/program/fused_call.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::graph {
namespace {

// Calls in a group, and others that the search for its members passes. Limits
// how long the pass takes; chains in models are shorter.
constexpr size_t kMaxParts = 32;
constexpr size_t kMaxBetween = 32;

/// No two elements at one address, as far as sorted strides tell.
bool without_overlap(const Tensor& t) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t d = 0; d < size_t(t.dim()); ++d)
    if (t.sizes()[d] > 1) dims.emplace_back(t.strides()[d], t.sizes()[d]);
  std::sort(dims.begin(), dims.end());
  int64_t extent = 1;
  for (const auto& [stride, size] : dims) {
    if (stride < extent) return false;
    extent = stride * size;
  }
  return true;
}

/// True if b's sizes are those that `a` broadcasts to.
bool broadcasts_to(const Tensor& a, const Tensor& b) {
  if (a.dim() > b.dim()) return false;
  const size_t lead = size_t(b.dim() - a.dim());
  for (size_t d = 0; d < size_t(a.dim()); ++d)
    if (a.sizes()[d] != 1 && a.sizes()[d] != b.sizes()[d + lead]) return false;
  return true;
}

/// Tells whether elements of the one are elements of the other only where they
/// have the same place in the index space, or nobody writes.
bool in_step(const Operand& a, const Operand& b) {
  if (!a.tensor->defined() || !b.tensor->defined()) return true;
  return !touch_of(a).conflicts(touch_of(b)) ||
         same_elements(*a.tensor, *b.tensor);
}
bool in_step(const KernelCall& a, const KernelCall& b) {
  for (const Operand& x : a.operands())
    for (const Operand& y : b.operands())
      if (!in_step(x, y)) return false;
  return true;
}

struct Item {
  std::unique_ptr<Node> node;
  Touches touches;
  /// For what may be part of a group: the one or the other.
  std::optional<Elementwise> loop;
  RowReduction reduction;
  int64_t row = 0;  // elements that it takes together
  /// Tensor of the shape of the group's elements; null of what can't be part.
  const Tensor* elements = nullptr;
  /// Role that a device said; kNone on the CPU.
  FusedRole::Kind role = FusedRole::kNone;

  /// True if nothing joins after it.
  bool ends() const { return role == FusedRole::kReduces; }
};

/// True if a device's kernel finds the operand: its memory, or a number.
bool reaches(const Operand& operand, Device device) {
  if (operand.object || !operand.tensor->defined()) return false;
  const Tensor& t = *operand.tensor;
  return t.storage()->device() == device ||
         (t.device().is_cpu() &&
          (device.is_cpu() || (t.dim() == 0 && !operand.writes())));
}

/// True if an operand per element is written, and others broadcast to it.
bool is_loop(const KernelCall& call, Device device) {
  const auto operands = call.operands();
  if (operands.empty() || operands.size() > LoopNest::kMaxOperands)
    return false;
  for (const Operand& operand : operands)
    if (!reaches(operand, device)) return false;
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0 || out.dim() > LoopNest::kMaxDims ||
      !operands[0].writes() || !without_overlap(out))
    return false;
  for (const Operand& operand : operands.subspan(1))
    if (operand.writes() || !broadcasts_to(*operand.tensor, out)) return false;
  return in_step(call, call);
}

std::optional<Elementwise> loop_of(const KernelCall& call, Device device) {
  const ElementwiseFunction function = elementwise_function(call.kernel());
  if (!function || !is_loop(call, device)) return {};
  return function(call);
}

/// Elements of a row if the call reduces rows of a row-major tensor, else 0.
int64_t reduced_row(const KernelCall& call) {
  const auto operands = call.operands();
  if (operands.size() != 2 || operands[0].access != Access::kWrite ||
      operands[1].writes() || !operands[0].tensor->defined() ||
      !operands[1].tensor->defined())
    return 0;
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  if (in.dim() > LoopNest::kMaxDims ||
      in.storage()->device().type != DeviceType::kCPU || !in_step(call, call))
    return 0;
  const int64_t row = row_of(out, in);
  return row > 1 && row <= RowReduction::kMaxRow ? row : 0;
}

/// Finds what the CPU can make of it.
void find_cpu_role(Item& item, Device device) {
  const KernelCall& call = item.node->call();
  item.loop = loop_of(call, device);
  if (item.loop) item.elements = &call.tensor(0);
  const auto reduction = row_reduction_function(call.kernel());
  if (!reduction) return;
  item.row = reduced_row(call);
  if (item.row == 0) return;
  item.elements = &call.tensor(1);
  reduction(call, item.reduction);
}

/// Asks the device. Loops have no code here: that there is one says enough.
void find_device_role(Item& item, Device device) {
  const KernelCall& call = item.node->call();
  const FusedRole role =
      DeviceTable::instance().backend(device.type).fused_role(call);
  if (role.kind == FusedRole::kNone) return;
  if (role.kind == FusedRole::kElements && !is_loop(call, device)) return;
  for (const Operand& operand : call.operands())
    if (operand.object ||
        (operand.tensor->defined() && !reaches(operand, device)))
      return;
  if (!in_step(call, call)) return;
  if (role.kind == FusedRole::kHead && !without_overlap(*role.elements)) return;
  item.role = role.kind;
  if (role.kind == FusedRole::kHead) return;
  if (role.kind != FusedRole::kRows && !item.ends())
    item.loop = Elementwise(nullptr);
  item.elements = role.elements;
  item.row = role.columns;
}

/// True if b's sizes are a's with one element a row.
bool is_one_a_row(IntSpan a, IntSpan b, int64_t row) {
  if (a.size() != b.size()) return false;
  size_t d = a.size();
  for (; d > 0 && row > 1; --d) {
    if (b[d - 1] != 1) return false;
    row /= a[d - 1];
  }
  return same(a.first(d), b.first(d));
}

class Fusion {
 public:
  explicit Fusion(Region& region) : region_(region) {
    for (auto& node : region.nodes) {
      count_uses(node->call(), 1);
      auto touches = touches_of(node->call());
      Item item{std::move(node), std::move(touches), {}, {}};
      if (region.device.is_cpu())
        find_cpu_role(item, region.device);
      else
        find_device_role(item, region.device);
      items_.push_back(std::move(item));
    }
  }

  void run() {
    // Heads come first: what can go on with one does.
    for (size_t i = 0; i < items_.size(); ++i)
      if (items_[i].role == FusedRole::kHead) fuse_from(i);
    for (size_t i = 0; i < items_.size();)
      if (!begins(items_[i]) || !fuse_from(i)) ++i;
    region_.nodes.clear();
    for (Item& item : items_) region_.nodes.push_back(std::move(item.node));
  }

 private:
  void count_uses(const KernelCall& call, int change) {
    std::unordered_set<const Ordered*> seen;
    for (const Operand& operand : call.operands())
      if (ordered_of(operand) && seen.insert(ordered_of(operand)).second)
        uses_[ordered_of(operand)] += change;
  }

  /// The CPU's tiles need a loop that says how elements lie.
  bool begins(const Item& item) const {
    return item.elements && !item.ends() &&
           (item.loop || !region_.device.is_cpu());
  }

  /// Puts the group that begins with item i in its place, after calls in
  /// between that don't depend on it. False if there is none.
  bool fuse_from(size_t i) {
    std::vector<size_t> members{i}, before, after;
    size_t j = i + 1;
    for (; j < items_.size() && members.size() < kMaxParts &&
           before.size() + after.size() < kMaxBetween &&
           !items_[members.back()].ends();
         ++j) {
      if (joins(j, members, after)) {
        take_along(j, before, members);
        members.push_back(j);
      } else if (depends(j, members) || depends(j, after)) {
        after.push_back(j);
      } else {
        before.push_back(j);
      }
    }
    if (members.size() < 2) return false;
    const size_t end = j;
    std::vector<Item> moved;
    for (const size_t k : before) moved.push_back(std::move(items_[k]));
    moved.push_back(fused(members));
    for (const size_t k : after) moved.push_back(std::move(items_[k]));
    std::move(moved.begin(), moved.end(), items_.begin() + ptrdiff_t(i));
    items_.erase(items_.begin() + ptrdiff_t(i + moved.size()),
                 items_.begin() + ptrdiff_t(end));
    return true;
  }

  /// Loops before the group that j, which joins it, goes on with join, too:
  /// of `a.exp() + b.exp()` the second one.
  void take_along(size_t j, std::vector<size_t>& before,
                  std::vector<size_t>& members) const {
    if (items_[members[0]].role == FusedRole::kHead) return;
    std::vector<size_t> joined{j};
    for (size_t n = before.size(); n-- > 0;) {
      const size_t k = before[n];
      const std::span<const size_t> later = std::span(before).subspan(n + 1);
      if (members.size() + 2 > kMaxParts || !shares(k, joined) ||
          !goes_along(k, j, members) || depends(k, later))
        continue;
      joined.push_back(k);
      members.insert(std::upper_bound(members.begin(), members.end(), k), k);
      before.erase(before.begin() + ptrdiff_t(n));
    }
  }

  bool goes_along(size_t k, size_t j,
                  const std::vector<size_t>& members) const {
    const Item& item = items_[k];
    if (!item.loop ||
        !same(item.elements->sizes(), items_[members[0]].elements->sizes()))
      return false;
    return in_step(item.node->call(), items_[j].node->call()) &&
           in_step_with_all(item.node->call(), members);
  }

  bool in_step_with_all(const KernelCall& call,
                        const std::vector<size_t>& members) const {
    return std::all_of(members.begin(), members.end(), [&](size_t k) {
      return in_step(call, items_[k].node->call());
    });
  }
  bool shares(size_t k, const std::vector<size_t>& with) const {
    return std::any_of(with.begin(), with.end(), [&](size_t other) {
      return overlap(items_[k].touches, items_[other].touches);
    });
  }
  /// True if the one must stay in order with any of the others.
  bool depends(size_t j, std::span<const size_t> on) const {
    return std::any_of(on.begin(), on.end(), [&](size_t k) {
      return conflict(items_[j].touches, items_[k].touches);
    });
  }

  bool joins(size_t j, const std::vector<size_t>& members,
             const std::vector<size_t>& after) const {
    const Item& item = items_[j];
    if (!item.elements) return false;
    if (items_[members[0]].role == FusedRole::kHead)
      return follows(j, members, after);
    const IntSpan sizes = items_[members[0]].elements->sizes();
    if (!same(item.elements->sizes(), sizes) &&
        !(item.loop && !region_.device.is_cpu() && row_in(members) > 0 &&
          is_one_a_row(sizes, item.elements->sizes(), row_in(members))))
      return false;
    if (item.row > 0 && !rows_agree(item, members)) return false;
    if (item.ends() && row_in(members) > 0) return false;
    return shares(j, members) && in_step_with_all(item.node->call(), members) &&
           !depends(j, after);
  }

  /// The same behind a head. Views between the calls may have other dimensions:
  /// what joins is restated in the head's.
  bool follows(size_t j, const std::vector<size_t>& members,
               const std::vector<size_t>& after) const {
    const Item& item = items_[j];
    if (item.role != FusedRole::kElements || depends(j, after)) return false;
    const KernelCall& call = item.node->call();
    for (const size_t k : members) {
      const Tensor& result = items_[k].node->call().tensor(0);
      const std::optional<Restated> restated = Restated::over(result, call);
      if (!restated || !in_step_with(*restated, call, members)) continue;
      restated->apply(call);
      return true;
    }
    return false;
  }
  bool in_step_with(const Restated& restated, const KernelCall& call,
                    const std::vector<size_t>& members) const {
    for (size_t i = 0; i < restated.tensors.size(); ++i) {
      Operand x = call.operands()[i];
      x.tensor = &restated.tensors[i];
      for (const size_t k : members) {
        const auto others = items_[k].node->call().operands();
        for (const Operand& y : others) {
          // Other blocks still read what a head takes.
          const bool taken =
              items_[k].role == FusedRole::kHead && &y != others.data();
          if (taken ? ordered_of(y) && touch_of(x).conflicts(touch_of(y))
                    : !in_step(x, y))
            return false;
        }
      }
    }
    return true;
  }

  bool rows_agree(const Item& item, const std::vector<size_t>& members) const {
    return std::all_of(members.begin(), members.end(), [&](size_t k) {
      const Item& other = items_[k];
      return other.row == 0 ||
             (other.row == item.row && itemsize(other.elements->dtype()) ==
                                           itemsize(item.elements->dtype()));
    });
  }

  /// Row of the group's reductions, 0 without one.
  int64_t row_in(const std::vector<size_t>& members) const {
    int64_t row = 0;
    for (const size_t k : members) row = std::max(row, items_[k].row);
    return row;
  }

  static bool overlap(const Touches& a, const Touches& b) {
    for (const Touch& x : a)
      for (const Touch& y : b)
        if (x.overlaps(y)) return true;
    return false;
  }

  Item fused(const std::vector<size_t>& members) {
    std::vector<FusedPart> parts;
    const int64_t row = row_in(members);
    const bool ends = items_[members.back()].ends();
    for (const size_t k : members) {
      count_uses(items_[k].node->call(), -1);
      parts.push_back(
          {std::move(items_[k].node), items_[k].loop, items_[k].reduction});
    }
    const auto inner = inner_values(parts);
    if (!region_.device.is_cpu())
      return counted(fused_calls_node(std::move(parts), inner, row, ends));
    const auto group =
        std::make_shared<FusedGroup>(std::move(parts), inner, row);
    for (const FusedPart& part : group->parts())
      for (const Operand& operand : part.node->call().operands())
        if (group->slot(*operand.tensor))
          region_.values.erase(operand.tensor->storage().get());
    return counted(fused_node(group));
  }

  /// The item of a group's call, which nothing joins.
  Item counted(std::unique_ptr<Node> node) {
    count_uses(node->call(), 1);
    auto touches = touches_of(node->call());
    return {std::move(node), std::move(touches), {}, {}};
  }

  /// Values that the parts alone touch, all as the same elements, and that
  /// are written before they are read. Call it when the parts' uses are no
  /// longer counted.
  std::vector<const Storage*> inner_values(
      const std::vector<FusedPart>& parts) const {
    std::vector<const Storage*> out;
    std::unordered_map<const Storage*, const Tensor*> first;
    std::unordered_set<const Storage*> refused;
    for (const FusedPart& part : parts) {
      const auto operands = part.node->call().operands();
      for (size_t n = operands.size();
           n-- > 0;) {  // what it reads, then writes
        const Operand& operand = operands[n];
        if (!operand.tensor->defined()) continue;
        const Storage* storage = operand.tensor->storage().get();
        const auto [at, fresh] = first.try_emplace(storage, operand.tensor);
        // The CPU's slots are for elements.
        if (n == 0 && !part.loop && region_.device.is_cpu())
          refused.insert(storage);
        if (fresh ? operand.access != Access::kWrite
                  : !same_elements(*at->second, *operand.tensor))
          refused.insert(storage);
        if (fresh) out.push_back(storage);
      }
    }
    std::erase_if(out, [&](const Storage* s) {
      const auto uses = uses_.find(s);
      return refused.contains(s) || !region_.values.contains(s) ||
             (uses != uses_.end() && uses->second > 0);
    });
    return out;
  }

  Region& region_;
  std::vector<Item> items_;
  /// Calls that touch each.
  std::unordered_map<const Ordered*, int> uses_;
};

}  // namespace

void fuse_pointwise(Region& region) {
  Fusion(region).run();
}

}  // namespace hotaru::graph
