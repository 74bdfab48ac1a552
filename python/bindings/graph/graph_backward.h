// The backward of graphed functions: one node that replays a graph.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "bindings/graph/graph_arguments.h"
#include "hotaru/autograd/node.h"
#include "hotaru/graph/graph.h"

namespace hotaru::python {

/// A captured backward, shared by the nodes of all calls. The graph's memory
/// holds the intermediate values of the last call only.
struct GraphBackward final : RefCounted {
  Ref<graph::Graph> graph;
  /// By result of the function: where its gradient goes; undefined where the
  /// result has none.
  std::vector<Tensor> incoming;
  /// By argument that requires grad, then by parameter; undefined where the
  /// results do not depend on it.
  std::vector<Tensor> outgoing;
  std::vector<Tensor> parameters;
  /// Tensors from outside of the graph whose values it reads: they have to be
  /// as they were in the forward.
  std::vector<Guarded> saved;
  /// Places of the arguments whose values it reads, as the function left them.
  std::vector<size_t> read_arguments;
  /// By result, whether it reads its values; likewise.
  std::vector<bool> read_results;
  /// By outgoing gradient, the places of results that depend on its tensor;
  /// empty if all do.
  std::vector<std::vector<size_t>> sources;
  /// Gradients are copies; else views, which the next backward overwrites.
  bool fresh = false;
  /// Number of the last call, from 1; and of the one whose backward may yet
  /// come, or 0.
  std::atomic<uint64_t> call{0}, awaited{0};
};

/// Gives the results of a call their history. `arguments` are those that
/// require grad, `read` those of read_arguments. The node throws Error if the
/// function was called again before its turn, or what it reads, results among
/// it, was written since.
void record_call(const Ref<GraphBackward>& backward,
                 std::span<const Tensor> arguments,
                 std::span<const Tensor> read, std::span<const Tensor> results);

}  // namespace hotaru::python
