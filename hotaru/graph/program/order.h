// Which calls of a program have to stay in order: those that touch the same
// bytes, one of them to write.
#pragma once

#include "hotaru/graph/capture/capture.h"
#include "hotaru/runtime/call_order.h"

namespace hotaru::graph {

/// Near linear in the operands of all nodes.
CallOrder order_of(const Nodes& nodes);

}  // namespace hotaru::graph
