// Which algorithms a graph's calls take.
#pragma once

#include <string>
#include <vector>

#include "hotaru/graph/program/program.h"
#include "hotaru/runtime/ways.h"

namespace hotaru::graph {

/// One call of a graph, with the algorithms of its kernel on its device.
struct CallWays {
  /// The kernel's name; of fused ones all of them.
  std::string call;
  WayAnswers ways;  // none where there is one
};

/// Ways that every call of a program takes, in their order.
std::vector<CallWays> ways_of(const Program& program);

}  // namespace hotaru::graph
