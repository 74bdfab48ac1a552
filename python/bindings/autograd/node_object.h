// Nodes of the backward graph as Python sees them, and those it writes.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "bindings/autograd/held.h"
#include "hotaru/autograd/saved_tensor.h"

namespace hotaru::python {

/// A node as Python sees it, x.grad_fn: the same object as long as it lives.
class PyNode {
 public:
  explicit PyNode(Ref<autograd::Node> node)
      : owned_(std::move(node)), node_(owned_.get()) {}
  PyNode(PyNode&&) = delete;
  ~PyNode() {
    if (node_) node_->python_object = nullptr;
  }

  /// Throws where there is no node (any more).
  autograd::Node& get() const;
  /// Null if the object doesn't keep its node alive.
  const Ref<autograd::Node>& owned() const { return owned_; }

 protected:
  PyNode() = default;

  Ref<autograd::Node> owned_;
  autograd::Node* node_ = nullptr;
};

/// The object of a node that is written in Python, which is the node's own. A
/// program that keeps it longer than the graph is kept owns the node by it.
class PyFunctionNode : public PyNode {
 public:
  PyFunctionNode() = default;
  void bind(autograd::Node* node) { node_ = node; }
  void own(Ref<autograd::Node> node) { owned_ = std::move(node); }
  bool bound() const { return node_ != nullptr; }
};

/// The Python object of a node; None for null.
nanobind::object node_object(const Ref<autograd::Node>& node);
/// The Python class of the nodes of a name: "AddBackward0".
nanobind::object node_class(const std::string& name);

/// Between tensors and Python's sequences of them; None is undefined.
nanobind::tuple tensor_tuple(const autograd::Tensors& tensors);
autograd::Tensors tensor_vector(nanobind::handle sequence);

/// A backward step written in Python.
class PythonNode final : public autograd::SavingNode {
 public:
  /// `context`, a PyFunctionNode, becomes the node's object;
  /// `context._run(grads)` gives the gradients.
  PythonNode(std::string name, nanobind::object context);
  ~PythonNode() override;

  autograd::Tensors apply(autograd::Tensors grads) override;
  /// As long as a program has the context, which then owns the node.
  bool outlives() override;

  /// Null once it was forgotten.
  PyObject* context() const { return context_.get().ptr(); }
  void forget();

 private:
  Held context_;
};

void init_nodes(nanobind::module_& m);

}  // namespace hotaru::python
