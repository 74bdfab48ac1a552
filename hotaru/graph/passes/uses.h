// Which of a region's calls touch what: asked by passes that join calls.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "hotaru/graph/capture/region.h"
#include "hotaru/graph/capture/touch.h"

namespace hotaru::graph {

/// An index of the nodes by what they touch, as the region was when it was
/// made. A pass that leaves nodes out resets them to null and erases them at
/// its end; numbers of nodes mean the same until then.
class Uses {
 public:
  explicit Uses(const Region& region);

  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }
  /// The nodes with an operand in the tensor's memory, ascending; those that
  /// were left out since are among them.
  std::span<const size_t> of(const Tensor& t) const;

  /// The only node besides n that touches a value: the one that writes it if n
  /// reads it, and the other way round. Nothing where the tensor is of no value
  /// or others touch it; it may be a view.
  std::optional<size_t> other(const Tensor& value, size_t n) const;
  /// The next node behind n that touches the value; nothing where others want
  /// what is in it: where they come later and the next does not write there.
  std::optional<size_t> only_user(const Tensor& value, size_t n) const;

  /// Tells whether a node that stands at `last` instead of at `since` reads the
  /// same of a tensor: nobody between them writes there.
  bool unchanged(const Tensor& t, size_t since, size_t last) const;
  /// To be called where another node took the place of n.
  void replaced(size_t n) { touches_[n].reset(); }

 private:
  const Region& region_;
  std::unordered_map<const Storage*, std::vector<size_t>> users_;
  // Touches of each node, once somebody asked.
  mutable std::vector<std::optional<Touches>> touches_;
};

/// A tensor of its own on the same memory: those of calls go with them.
/// Undefined if that one is.
Tensor alias_of(const Tensor& t);

/// True if two tensors are the same elements, element for element.
bool same_view(const Tensor& a, const Tensor& b);
/// True if two tensors lie alike, wherever their memory is.
bool same_layout(const Tensor& a, const Tensor& b);

}  // namespace hotaru::graph
