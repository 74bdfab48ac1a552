// Steps of backward passes: hotaru's to look at, and those of a program's own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "hotaru/autograd/node.h"

namespace torch::autograd {

using Variable = at::Tensor;
using tensor_list = std::vector<at::Tensor>;
using variable_list = tensor_list;
class Node;

/// Where a gradient is due: an input of a node.
struct Edge {
  Edge() = default;
  Edge(std::shared_ptr<Node> function, uint32_t input_nr)
      : function(std::move(function)), input_nr(input_nr) {}

  bool is_valid() const noexcept { return bool(function); }
  bool operator==(const Edge& other) const {
    return function == other.function && input_nr == other.input_nr;
  }

  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
  /// The tensor it is of, if it was made for one.
  Variable variable;
};
using edge_list = std::vector<Edge>;

/// A step of the backward pass. A program derives from it, gives it edges, and
/// makes tensors its outputs (set_history, _wrap_outputs), which own it then.
class Node : public std::enable_shared_from_this<Node> {
 public:
  explicit Node(edge_list&& next_edges = {})
      : next_edges_(std::move(next_edges)) {}
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Gradients of the forward inputs, from those of the outputs.
  variable_list operator()(variable_list&& inputs) {
    return apply(std::move(inputs));
  }
  std::shared_ptr<Node> getptr() { return shared_from_this(); }

  /// As "AddBackward0"; of a program's own, its type.
  virtual std::string name() const;
  size_t num_inputs() const { return node_ ? node_->outputs().size() : 0; }
  size_t num_outputs() const { return next_edges().size(); }
  /// 0 before it has outputs.
  uint64_t sequence_nr() const { return node_ ? node_->sequence() : 0; }

  const edge_list& next_edges() const;
  /// Invalid where a gradient goes nowhere.
  const Edge& next_edge(size_t i) const { return next_edges().at(i); }
  bool should_compute_output(size_t i) const { return next_edge(i).is_valid(); }
  /// Throw for a node that has outputs.
  void set_next_edges(edge_list&& edges);
  void add_next_edge(Edge edge);
  /// Forgets its outputs. The tensors keep what they were.
  void clear_input_metadata() { node_ = nullptr; }
  /// Called when a pass needs no more of what it keeps.
  virtual void release_variables() {}

  /// Null for one of a program's own without outputs.
  hotaru::Ref<hotaru::autograd::Node> hotaru_node() const {
    return hotaru::Ref<hotaru::autograd::Node>(node_);
  }

 protected:
  explicit Node(hotaru::autograd::Node* node) : node_(node), listed_(false) {}

  virtual variable_list apply(variable_list&& inputs) = 0;

 private:
  friend class ProgramNode;

  // Not owned: where the tensors are, which own this one.
  hotaru::autograd::Node* node_ = nullptr;
  mutable edge_list next_edges_;
  /// False until the edges of node_ were asked for.
  mutable bool listed_ = true;
};

/// As PyTorch's pointers to nodes are told to delete.
inline void deleteNode(Node* node) {
  delete node;
}

/// The node as hotaru has it, with the edges that it has been given.
hotaru::Ref<hotaru::autograd::Node> hotaru_node_of(
    const std::shared_ptr<Node>& node);

/// Makes the tensor the node's next output.
void set_history(const Variable& variable, const std::shared_ptr<Node>& node);
void set_history(const variable_list& variables,
                 const std::shared_ptr<Node>& node);

namespace impl {
/// Where the tensor's gradient comes by; invalid if it needs none.
Edge gradient_edge(const Variable& variable);

inline void add_edges(edge_list& out, const Variable& variable) {
  out.push_back(variable.defined() ? gradient_edge(variable) : Edge());
}
inline void add_edges(edge_list& out, const std::optional<Variable>& variable) {
  add_edges(out, variable.value_or(Variable()));
}
inline void add_edges(edge_list& out, at::TensorList variables) {
  for (const Variable& variable : variables) add_edges(out, variable);
}
inline void add_edges(edge_list& out, const variable_list& variables) {
  add_edges(out, at::TensorList(variables));
}
}  // namespace impl

/// Edges to where the gradients of tensors, or of lists of them, are due.
template <class... Variables>
edge_list collect_next_edges(const Variables&... variables) {
  edge_list out;
  (impl::add_edges(out, variables), ...);
  return out;
}

}  // namespace torch::autograd
