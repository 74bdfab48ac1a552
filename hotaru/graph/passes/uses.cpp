#include "hotaru/graph/passes/uses.h"

#include <algorithm>

namespace hotaru::graph {

Uses::Uses(const Region& region)
    : region_(region), touches_(region.nodes.size()) {
  for (size_t n = 0; n < region.nodes.size(); ++n)
    for (const Operand& operand : call(n).operands()) {
      if (operand.object || !operand.tensor->defined()) continue;
      std::vector<size_t>& users = users_[operand.tensor->storage().get()];
      if (users.empty() || users.back() != n) users.push_back(n);
    }
}

std::span<const size_t> Uses::of(const Tensor& t) const {
  const auto at = users_.find(t.storage().get());
  if (at == users_.end()) return {};
  return at->second;
}

std::optional<size_t> Uses::other(const Tensor& value, size_t n) const {
  if (!region_.values.contains(value.storage().get())) return {};
  const auto users = of(value);
  if (users.size() != 2) return {};
  const size_t other = users[0] == n ? users[1] : users[0];
  return region_.nodes[other] ? std::optional(other) : std::nullopt;
}

std::optional<size_t> Uses::only_user(const Tensor& value, size_t n) const {
  if (!region_.values.contains(value.storage().get())) return {};
  const auto users = of(value);
  const auto next = std::upper_bound(users.begin(), users.end(), n);
  if (next == users.end() || !region_.nodes[*next]) return {};
  const auto operands = call(*next).operands();
  if (operands.empty() || operands[0].object) return {};
  const Tensor& out = *operands[0].tensor;
  const bool in_place = out.defined() && out.storage() == value.storage();
  if (!in_place && next + 1 != users.end()) return {};
  return *next;
}

bool Uses::unchanged(const Tensor& t, size_t since, size_t last) const {
  if (!t.defined()) return true;
  const Touch reads = touch_of(read(t));
  for (size_t n = since + 1; n < last; ++n) {
    if (!region_.nodes[n]) continue;
    if (!touches_[n]) touches_[n] = touches_of(call(n));
    for (const Touch& touch : *touches_[n])
      if (touch.conflicts(reads)) return false;
  }
  return true;
}

Tensor alias_of(const Tensor& t) {
  return t.defined() ? make_alias(t) : Tensor();
}

bool same_view(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && same_layout(a, b);
}

bool same_layout(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.storage_offset() == b.storage_offset() &&
         same(a.sizes(), b.sizes()) && same(a.strides(), b.strides());
}

}  // namespace hotaru::graph
