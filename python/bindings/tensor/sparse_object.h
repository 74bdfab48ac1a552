// Sparse tensors in Python: instances of a class that answers operators.
#pragma once

#include "bindings/tensor/tensor_object.h"

namespace hotaru::python {

/// The class that stands for the tensor: Tensor but for sparse ones.
PyTypeObject* type_for(const Tensor& tensor);

void init_sparse(nanobind::module_& m);

}  // namespace hotaru::python
