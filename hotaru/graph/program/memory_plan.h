// Where the intermediate values of a graph lie: in one piece of memory, at
// addresses that values share whose lives do not overlap.
#pragma once

#include "hotaru/graph/capture/region.h"
#include "hotaru/runtime/call_order.h"

namespace hotaru::graph {

/// The life of one intermediate value: bytes [offset, offset + nbytes) of the
/// arena, from the first node that touches it to the last.
struct Placement {
  Storage* storage;
  size_t nbytes;
  size_t first, last;
  size_t offset;
  /// One of Region::renewed, whose life goes on after the last node.
  bool renewed = false;
};

struct MemoryPlan {
  std::vector<Placement> placements;
  /// Size of the arena.
  size_t nbytes = 0;
  /// Bytes that all values would take together, and those alive at a time at
  /// most: the least that any plan needs.
  size_t total = 0, peak = 0;
  /// Set if renewed results are among them: then no other graph may put its
  /// values there.
  bool renewed = false;
};

/// The values that only the nodes know: storages without memory that nobody
/// else holds.
std::unordered_set<const Storage*> intermediates(const Nodes& nodes);

/// Places the region's values, the largest first, each at the lowest offset
/// that is free for as long as it lives. What branches of a stretch touch lives
/// for all of it. Renewed results are placed, too, if two graphs of a pool that
/// do so, and so need memory of their own, take no more than if they did not.
MemoryPlan plan_memory(const Region& region);
/// The same where calls run in any order that `order` permits: values share
/// memory if all calls on one come after all calls on the other.
MemoryPlan plan_memory(const Region& region, const CallOrder& order);

}  // namespace hotaru::graph
