#include "bindings/autograd/functions.h"

#include <nanobind/stl/string.h>

#include "bindings/autograd/node_object.h"
#include "bindings/errors.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;
using autograd::Node;
using autograd::Tensors;

/// Fails when its turn comes.
class ErrorNode final : public Node {
 public:
  explicit ErrorNode(std::string text)
      : Node("torch::autograd::Error"), text_(std::move(text)) {}
  Tensors apply(Tensors) override { fail(text_); }

 private:
  std::string text_;
};

/// Passes no gradient on.
class UndefinedNode final : public Node {
 public:
  UndefinedNode() : Node("torch::autograd::UndefinedGradBackward") {}
  Tensors apply(Tensors grads) override { return Tensors(grads.size()); }
};

/// The same values as outputs of a node, if any of them wants gradients.
nb::object outputs_of(const Ref<Node>& node, nb::handle arguments) {
  const Tensors inputs = tensor_vector(arguments);
  const bool recorded = autograd::needs_grad(inputs);
  Tensors outputs;
  for (const Tensor& t : inputs) {
    node->add_edge(t.defined() ? autograd::gradient_edge(t) : autograd::Edge{});
    outputs.push_back(t.defined() ? make_alias(t) : t);
  }
  for (const Tensor& t : outputs) {
    if (!recorded) break;
    if (t.defined())
      autograd::set_history(t, node);
    else
      node->skip_output();
  }
  if (outputs.size() == 1) return nb::steal(wrap(outputs[0]));
  return tensor_tuple(outputs);
}

struct DelayedError {
  std::string text;
};
struct UndefinedGrad {};

std::string text_of(nb::handle message) {
  return nb::isinstance<nb::bytes>(message)
             ? nb::borrow<nb::bytes>(message).c_str()
             : nb::cast<std::string>(message);
}

}  // namespace

void init_functions(nb::module_& m) {
  nb::module_ functions = m.def_submodule(
      "_functions", "Classes of nodes, and functions for the backward pass.");
  nb::class_<DelayedError>(functions, "DelayedError",
                           "Passes tensors on; their gradient is an error.")
      .def("__init__",
           [](DelayedError* self, nb::object message, int64_t) {
             new (self) DelayedError{text_of(message)};
           })
      .def("__call__", [](const DelayedError& self, nb::args arguments) {
        return outputs_of(make_ref<ErrorNode>(self.text), arguments);
      });
  nb::class_<UndefinedGrad>(functions, "UndefinedGrad",
                            "Passes tensors on, and no gradient back.")
      .def(nb::init<>())
      .def("__call__", [](const UndefinedGrad&, nb::args arguments) {
        return outputs_of(make_ref<UndefinedNode>(), arguments);
      });
  functions.attr("AccumulateGrad") = node_class("AccumulateGrad");
  functions.attr("CopySlices") = node_class("CopySlices");
}

}  // namespace hotaru::python
