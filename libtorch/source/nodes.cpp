// Nodes of a program's own over hotaru's, and hotaru's to look at.
#include "source/nodes.h"

#include <algorithm>

#include "c10/util/Type.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "torch/autograd.h"

namespace torch::autograd {

namespace own = hotaru::autograd;

/// hotaru's side of a program's node, which owns it.
class ProgramNode final : public own::Node {
 public:
  explicit ProgramNode(std::shared_ptr<torch::autograd::Node> program)
      : own::Node(program->name()), program_(std::move(program)) {
    for (const torch::autograd::Edge& edge : program_->next_edges_)
      add_edge(edge.function
                   ? own::Edge{hotaru_node_of(edge.function), edge.input_nr}
                   : own::Edge());
    // Graphs are freed by hotaru's nodes, one after the other.
    program_->next_edges_.clear();
    program_->listed_ = false;
    program_->node_ = this;
  }
  ~ProgramNode() override {
    if (program_->node_ == this) program_->node_ = nullptr;
  }

  own::Tensors apply(own::Tensors grads) override {
    variable_list given;
    for (hotaru::Tensor& grad : grads) given.emplace_back(std::move(grad));
    const variable_list found = program_->apply(std::move(given));
    TORCH_CHECK(found.size() == edges().size(), "Function ", name(),
                " returned an invalid number of gradients - got ", found.size(),
                ", but expected ", edges().size());
    own::Tensors out;
    for (const at::Tensor& grad : found) out.push_back(grad.hotaru_tensor());
    return out;
  }
  void release_saved() override { program_->release_variables(); }

  const std::shared_ptr<torch::autograd::Node>& program() const {
    return program_;
  }

 private:
  std::shared_ptr<torch::autograd::Node> program_;
};

namespace {

/// A node of hotaru's.
class LookedAt final : public Node {
 public:
  explicit LookedAt(hotaru::Ref<own::Node> node)
      : Node(node.get()), node_(std::move(node)) {}

  std::string name() const override { return node_->name(); }

 protected:
  variable_list apply(variable_list&& inputs) override {
    own::Tensors grads;
    for (const at::Tensor& t : inputs) grads.push_back(t.hotaru_tensor());
    const own::Tensors found = node_->apply(std::move(grads));
    return variable_list(found.begin(), found.end());
  }

 private:
  hotaru::Ref<own::Node> node_;
};

bool is_among(const variable_list& list, const at::Tensor& t) {
  return std::ranges::any_of(
      list, [&](const at::Tensor& other) { return other.is_same(t); });
}

void check_returned(const std::unordered_set<at::TensorImpl*>& dirty,
                    const std::vector<std::optional<Variable>>& outputs) {
  for (const at::TensorImpl* impl : dirty)
    TORCH_CHECK(
        std::ranges::any_of(outputs,
                            [&](const std::optional<Variable>& t) {
                              return t && t->unsafeGetTensorImpl() == impl;
                            }),
        "Some elements marked as dirty during the forward method were not "
        "returned as output. The inputs that are modified inplace must all be "
        "outputs of the Function.");
}

/// Makes what was written the node's output, through its base if it is a view.
void rebase(const Variable& t, const variable_list& inputs,
            const hotaru::Ref<own::Node>& node) {
  const hotaru::Tensor& tensor = t.hotaru_tensor();
  TORCH_CHECK(!(t.is_leaf() && t.requires_grad()),
              "a leaf Variable that requires grad has been used in an in-place "
              "operation.");
  const auto slot = std::ranges::find_if(
      inputs, [&](const at::Tensor& input) { return input.is_same(t); });
  if (slot == inputs.end())
    TORCH_WARN(
        "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor "
        "is not an input, there is no need to pass it to mark_dirty().");
  if (slot != inputs.end() && own::writes_base(tensor))
    own::rebase_view(tensor, node, size_t(slot - inputs.begin()));
  else
    own::set_history(tensor, node);
}

}  // namespace

std::shared_ptr<Node> node_of(const hotaru::Ref<own::Node>& node) {
  if (!node) return nullptr;
  if (const auto* program = dynamic_cast<const ProgramNode*>(node.get()))
    return program->program();
  return std::make_shared<LookedAt>(node);
}

hotaru::Ref<own::Node> hotaru_node_of(const std::shared_ptr<Node>& node) {
  if (hotaru::Ref<own::Node> made = node->hotaru_node()) return made;
  return hotaru::make_ref<ProgramNode>(node);
}

std::string Node::name() const {
  return c10::demangle(typeid(*this).name());
}

const edge_list& Node::next_edges() const {
  if (!listed_ && node_) {
    listed_ = true;
    for (const own::Edge& edge : node_->edges())
      next_edges_.push_back(Edge(node_of(edge.node), edge.index));
  }
  return next_edges_;
}

void Node::set_next_edges(edge_list&& edges) {
  TORCH_CHECK(!node_, "set_next_edges: the node has outputs already");
  next_edges_ = std::move(edges);
}
void Node::add_next_edge(Edge edge) {
  TORCH_CHECK(!node_, "add_next_edge: the node has outputs already");
  next_edges_.push_back(std::move(edge));
}

void set_history(const Variable& variable, const std::shared_ptr<Node>& node) {
  if (!node) return;
  const auto made = hotaru_node_of(node);
  if (variable.defined())
    own::set_history(variable.hotaru_tensor(), made);
  else
    made->skip_output();
}
void set_history(const variable_list& variables,
                 const std::shared_ptr<Node>& node) {
  for (const Variable& variable : variables) set_history(variable, node);
}

Edge impl::gradient_edge(const Variable& variable) {
  Edge out;
  if (variable.requires_grad()) {
    const own::Edge edge = own::gradient_edge(variable.hotaru_tensor());
    out = Edge(node_of(edge.node), edge.index);
  }
  out.variable = variable;
  return out;
}

std::vector<std::optional<Variable>> to_optional(const Variable& output) {
  return {output};
}
std::vector<std::optional<Variable>> to_optional(const variable_list& outputs) {
  return {outputs.begin(), outputs.end()};
}

std::vector<std::optional<Variable>> _wrap_outputs(
    const variable_list& inputs,
    const std::unordered_set<at::TensorImpl*>& non_differentiable,
    const std::unordered_set<at::TensorImpl*>& dirty_inputs,
    const std::vector<std::optional<Variable>>& outputs,
    const std::shared_ptr<Node>& node, const _jvp_fn_t&,
    const std::unordered_set<at::TensorImpl*>&, const _view_as_self_fn_t&,
    bool) {
  check_returned(dirty_inputs, outputs);
  const auto made = node ? hotaru_node_of(node) : nullptr;
  std::vector<std::optional<Variable>> out;
  for (const std::optional<Variable>& output : outputs) {
    if (!output || !output->defined()) {
      if (made) made->skip_output();
      out.push_back(output ? output : std::nullopt);
      continue;
    }
    Variable t = *output;
    at::TensorImpl* const impl = t.unsafeGetTensorImpl();
    const bool written = dirty_inputs.contains(impl);
    if (is_among(inputs, t) && !written)
      t = Variable(hotaru::make_alias(t.hotaru_tensor()));
    const bool differentiable = made && !non_differentiable.contains(impl) &&
                                (t.is_floating_point() || t.is_complex());
    if (differentiable && written)
      rebase(t, inputs, made);
    else if (differentiable)
      own::set_history(t.hotaru_tensor(), made);
    else if (made)
      made->add_output(t.hotaru_tensor());
    out.push_back(std::move(t));
  }
  return out;
}

}  // namespace torch::autograd
