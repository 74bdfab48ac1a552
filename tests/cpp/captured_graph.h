// Graphs of what tests do.
#pragma once

#include <utility>

#include "hotaru/graph/graph.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::graph {

/// Captures what body() calls on a stream of its own.
template <class Body>
Ref<Graph> captured_graph(const Body& body, Options options = {}) {
  auto graph = make_ref<Graph>(std::move(options));
  const Stream stream = Stream::queued();
  graph->capture_begin(stream);
  {
    const StreamGuard guard(stream);
    body();
  }
  graph->capture_end();
  return graph;
}

}  // namespace hotaru::graph
