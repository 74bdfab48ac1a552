// Tensors as Python objects, by PyTorch's older names.
#pragma once

#include "torch/csrc/utils/python_api.h"

/// A new reference.
inline PyObject* THPVariable_Wrap(const at::Tensor& tensor) {
  return torch::detail::python_api().wrap(tensor.hotaru_tensor());
}
inline bool THPVariable_Check(PyObject* object) {
  return PyObject_IsInstance(object,
                             torch::detail::python_api().tensor_class) == 1;
}
/// Throws c10::TypeError for what is no tensor.
inline at::Tensor THPVariable_Unpack(PyObject* object) {
  hotaru::Tensor tensor;
  TORCH_CHECK_TYPE(torch::detail::python_api().unwrap(object, &tensor),
                   "expected a Tensor, got ", Py_TYPE(object)->tp_name);
  return at::Tensor(std::move(tensor));
}
