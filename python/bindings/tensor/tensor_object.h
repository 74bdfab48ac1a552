// The Python type Tensor: one word beside the object's header. Written
// against CPython itself, as every operator call makes one.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/core/tensor.h"

namespace hotaru::python {

struct TensorObject {
  PyObject_HEAD Tensor tensor;
  PyObject* dict;
  PyObject* weakrefs;
  /// Set if the tensor owns this object, which then does not own the tensor.
  bool kept;
  /// Place in hidden_classes of the one that answers for an object whose type
  /// is Tensor all the same, as of sparse ones; 0 for others. No word of its
  /// own: an object is one cache line with the collector's words.
  uint8_t answering;
};

/// The class hotaru.Tensor; null before init_tensor.
extern PyTypeObject* tensor_type;

/// Classes that answer for tensors of the type Tensor (answering_class.h), kept
/// for the process's life; the first is null.
inline constexpr size_t kHiddenClasses = 16;
extern PyTypeObject* hidden_classes[kHiddenClasses];

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type ||
         PyObject_TypeCheck(object, tensor_type);
}
/// Unchecked.
inline const Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}
/// The class by which an object answers operators: its type, but where that is
/// Tensor and another one answers for it.
inline PyTypeObject* answering_class(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type != tensor_type) return type;
  const auto place = reinterpret_cast<TensorObject*>(object)->answering;
  return place ? hidden_classes[place] : type;
}

/// The Python object of a tensor, the same one as long as it lives; None for
/// an undefined tensor. A new reference.
PyObject* wrap(Tensor tensor);
/// The same as an instance of a subclass, always a new object; of a hidden one
/// it is a Tensor for which the class answers.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);

/// A subclass of Tensor; TypeError for what is none.
PyTypeObject* class_of(nanobind::handle type);

void init_tensor(nanobind::module_& m);

}  // namespace hotaru::python

namespace nanobind::detail {

/// Lets bound functions take and return hotaru::Tensor; None is undefined.
template <>
struct type_caster<hotaru::Tensor> {
  NB_TYPE_CASTER(hotaru::Tensor, const_name("Tensor"))
  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    if (src.is_none()) return true;
    if (!hotaru::python::is_tensor(src.ptr())) return false;
    value = hotaru::python::tensor_of(src.ptr());
    return true;
  }
  static handle from_cpp(const hotaru::Tensor& t, rv_policy,
                         cleanup_list*) noexcept {
    return hotaru::python::wrap(t);
  }
};

}  // namespace nanobind::detail
