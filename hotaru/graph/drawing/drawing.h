// Pictures of a graph, as SVG.
#pragma once

#include <string>
#include <vector>

#include "hotaru/graph/drawing/description.h"
#include "hotaru/graph/program/memory_plan.h"

namespace hotaru::graph {

/// One column of a picture: nodes from top to bottom, each below those that it
/// follows, with lines between them.
struct Drawing {
  std::string title;
  const Description* graph;
  /// Shares of the whole time, by node; may be empty.
  std::vector<double> shares;
};

/// The drawings side by side.
std::string draw_graphs(const std::vector<Drawing>& drawings);

/// Addresses over time: a bar for each value, as wide as its life and as high
/// as it is large. Names are those of the nodes that make them.
std::string draw_memory(const MemoryPlan& plan, const Description& graph);

}  // namespace hotaru::graph
