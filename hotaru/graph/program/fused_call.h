// Elementwise calls, and reductions of their rows, that run as one, tile by
// tile: what a part computes is still in the first-level cache when the next
// part reads it, and never leaves it if nobody else wants it. The parts run
// their own inner loops, so results are those of the separate calls.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hotaru/backend/common/elementwise.h"
#include "hotaru/backend/common/reduce/row_reduction.h"
#include "hotaru/core/tensor.h"
#include "hotaru/graph/capture/capture.h"

namespace hotaru::graph {

/// One of the calls: an output of the group's sizes and what broadcasts to it;
/// or a reduction of something of the group's sizes.
struct FusedPart {
  std::unique_ptr<Node> node;
  std::optional<Elementwise> loop;
  RowReduction row;
};

/// Calls in their order. Whatever one writes and another one touches they
/// touch with the same geometry.
class FusedGroup {
 public:
  /// `inner` are storages that only the parts touch, and that one of them
  /// writes wholly before others read: they need no memory.
  /// The first part is elementwise. `row`: elements that reductions, whose
  /// operands are row-major, take together; 0 without reductions.
  FusedGroup(std::vector<FusedPart> parts,
             std::span<const Storage* const> inner, int64_t row);

  std::span<const FusedPart> parts() const { return parts_; }
  IntSpan sizes() const { return parts_[0].node->call().tensor(0).sizes(); }

  int64_t row() const { return row_; }

  /// A value's place in the tile that each thread works on.
  struct Slot {
    int64_t item;    // bytes of an element
    int64_t before;  // bytes of an element of all slots before this one
  };
  /// Null if it lies in memory: also values of `inner` that found no room.
  const Slot* slot(const Tensor& value) const;
  /// Bytes of an element of all slots, at most kMaxSlotBytes.
  int64_t slot_bytes() const { return slot_bytes_; }
  static constexpr int64_t kMaxSlotBytes = 64;

 private:
  void place(std::span<const Storage* const> inner);

  std::vector<FusedPart> parts_;
  std::vector<Slot> slots_;
  std::unordered_map<const Storage*, size_t> slot_of_;
  int64_t slot_bytes_ = 0;
  const int64_t row_;
};

/// A call that runs the group. Its operands are what lies in memory.
std::unique_ptr<Node> fused_node(std::shared_ptr<const FusedGroup> group);

/// The same for devices that run calls as one kernel of theirs. Its operands
/// are all that the parts touch: `inner` values have memory, which their kernel
/// does not use.
std::unique_ptr<Node> fused_calls_node(std::vector<FusedPart> parts,
                                       std::span<const Storage* const> inner,
                                       int64_t row, bool reduces);

/// The group of a fused call, null for all others.
const FusedGroup* fused_group(const KernelCall& call);

/// The kernel's name for people: of a fused call its parts', "mul + add".
std::string title(const Node& node);

}  // namespace hotaru::graph
