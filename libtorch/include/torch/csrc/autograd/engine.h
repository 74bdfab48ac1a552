// The backward pass, from the edges that it begins and ends at.
#pragma once

#include "torch/autograd.h"

namespace torch::autograd {

/// The one of a process. Thread-safe.
struct Engine {
  static Engine& get_default_engine() {
    static Engine one;
    return one;
  }
  /// Gradients of `roots` towards `outputs`, undefined where there is none;
  /// with `accumulate`, or without outputs, they are added to leaves as
  /// backward() does.
  variable_list execute(const edge_list& roots, const variable_list& inputs,
                        bool keep_graph, bool create_graph, bool accumulate,
                        const edge_list& outputs = {}) {
    const auto tensors = [](const edge_list& edges) {
      variable_list out;
      for (const Edge& edge : edges) {
        TORCH_CHECK(edge.variable.defined(),
                    "an engine's edges are those of tensors (gradient_edge)");
        out.push_back(edge.variable);
      }
      return out;
    };
    if (!accumulate && !outputs.empty())
      return grad(tensors(roots), tensors(outputs), inputs, keep_graph,
                  create_graph, true);
    backward(tensors(roots), inputs, keep_graph, create_graph,
             tensors(outputs));
    return {};
  }
};

}  // namespace torch::autograd
