// Memory that calls touch, and which calls must stay in order.
#pragma once

#include <cstdint>
#include <vector>

#include "hotaru/backend/common/same_elements.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::graph {

/// Bytes that an operand may lie in, or an object.
struct Touch {
  /// Distinct storages without memory are distinct; for the others, which may
  /// borrow the same memory, it is null and the bytes count from address 0.
  const Ordered* what;
  uintptr_t begin, end;
  bool writes;

  bool overlaps(const Touch& other) const {
    return what == other.what && begin < other.end && other.begin < end;
  }
  /// True if the order of the two matters.
  bool conflicts(const Touch& other) const {
    return (writes || other.writes) && overlaps(other);
  }
};
using Touches = std::vector<Touch>;

Touch touch_of(const Operand& operand);
/// Touches of all operands that are defined.
Touches touches_of(const KernelCall& call);
bool conflict(const Touches& a, const Touches& b);

/// True if it is the whole of its storage, row by row. Not if undefined.
bool whole(const Tensor& t);

}  // namespace hotaru::graph
