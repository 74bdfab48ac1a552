// Hidden classes: they answer for tensors whose type is Tensor, as those of
// sparse layouts and quantised ones have in PyTorch.
#pragma once

#include "bindings/tensor/tensor_object.h"

namespace hotaru::python {

/// True for a class that answers for tensors of the type Tensor. There are few;
/// the GIL is held.
bool is_hidden_class(PyTypeObject* type);
/// Its place in hidden_classes; 0 for any other class.
uint8_t hidden_place(PyTypeObject* type);

/// Functions by which Python hides classes and asks objects for theirs.
void init_answering_classes(nanobind::module_& m);

}  // namespace hotaru::python
