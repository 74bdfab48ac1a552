// Nodes of the backward graph as Python sees them, and those it writes.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "bindings/autograd/held.h"
#include "hotaru/autograd/node.h"

namespace hotaru::python {

/// A node as Python sees it, x.grad_fn: the same object as long as it lives.
struct PyNode {
  explicit PyNode(Ref<autograd::Node> node) : node(std::move(node)) {}
  PyNode(PyNode&&) = default;
  ~PyNode() {
    if (node) node->python_object = nullptr;
  }

  Ref<autograd::Node> node;
};

/// The Python object of a node; None for null.
nanobind::object node_object(const Ref<autograd::Node>& node);

/// Between tensors and Python's sequences of them; None is undefined.
nanobind::tuple tensor_tuple(const autograd::Tensors& tensors);
autograd::Tensors tensor_vector(nanobind::handle sequence);

/// A backward step written in Python.
class PythonNode final : public autograd::Node {
 public:
  /// `backward(node, grads)` gives the gradients; `backward.release()` lets go
  /// of what was saved.
  PythonNode(std::string name, nanobind::object backward)
      : Node(std::move(name)), backward_(std::move(backward)) {}

  autograd::Tensors apply(autograd::Tensors grads) override;
  void release_saved() override;

  /// Null once it was forgotten.
  PyObject* backward() const { return backward_.get().ptr(); }
  void forget() { backward_.clear(); }

 private:
  Held backward_;
};

void init_nodes(nanobind::module_& m);

}  // namespace hotaru::python
