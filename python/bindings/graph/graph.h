// Graphs: what hotaru.graphs builds on.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "hotaru/graph/graph.h"

namespace hotaru::python {

/// hotaru._C._Graph.
struct PyGraph {
  explicit PyGraph(graph::Options options)
      : graph(make_ref<graph::Graph>(std::move(options))) {}

  /// Lets other Python threads run meanwhile if that is worth it.
  void replay(std::span<const Operand> reads = {});

  Ref<graph::Graph> graph;
  /// The stream of the capture that goes on.
  std::optional<Stream> stream;
  /// Replays that run without the interpreter's lock, which guards this.
  int running = 0;
};

/// Notes that Python code changed a module: what graphs know of the modules
/// that they captured has to be looked at again.
void count_module_change();

void init_graph(nanobind::module_& m);
void init_graph_call(nanobind::module_& m);

}  // namespace hotaru::python
