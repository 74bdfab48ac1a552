// Autograd's side of tensors in Python: grad, grad_fn, hooks, modes, passes.
#pragma once

#include <nanobind/nanobind.h>

namespace hotaru::python {

// Accessors for the tensor type's table.
PyObject* get_requires_grad(PyObject* self, void*);
int set_requires_grad_attr(PyObject* self, PyObject* value, void*);
PyObject* get_grad(PyObject* self, void*);
int set_grad(PyObject* self, PyObject* value, void*);
PyObject* get_grad_dtype(PyObject* self, void*);
int set_grad_dtype(PyObject* self, PyObject* value, void*);
PyObject* get_grad_fn(PyObject* self, void*);
PyObject* get_is_leaf(PyObject* self, void*);
PyObject* get_retains_grad(PyObject* self, void*);
PyObject* get_output_nr(PyObject* self, void*);
PyObject* get_base(PyObject* self, void*);

void init_autograd(nanobind::module_& m);
void init_forward(nanobind::module_& m);

}  // namespace hotaru::python
