// The protocol __torch_function__: subclasses of Tensor, other classes and
// modes that answer operators themselves.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <string_view>

#include "bindings/ops/op_bind.h"
#include "bindings/tensor/tensor_object.h"

namespace hotaru::python::overrides {

/// Set if there ever was a tensor of a subclass that answers operators, or
/// there is a mode: else no call looks for either. One load for those.
extern std::atomic<bool> possible;

/// From now on there are tensors of such a class. Without the GIL, too.
void expect_subclasses();

/// While a capture goes on in this thread: notes that Python code asked a
/// tensor for something that shapes, strides and values do not tell, or called
/// an operator by which it may look elsewhere in memory.
void note_question(std::string_view name, PyObject* tensor);

/// Says whether any calls have to be looked at, after a change.
void update_possible();

/// Notes a tensor of that type, a subclass of Tensor.
void note_type(PyTypeObject* type);

/// Asks whoever overrides `func`, called so: modes of this thread, then
/// arguments (and items of lists) whose class has the protocol, subclasses
/// first. The answer, a new reference; null if there is nobody to ask, or with
/// a Python error.
PyObject* ask(PyObject* func, const Call& call);
/// The same for attribute `name` of Tensor, or what its descriptor's `getter`
/// ("__get__", "__set__") is.
PyObject* ask_attribute(const char* name, const char* getter,
                        std::initializer_list<PyObject*> args);

/// The same for an operator of two operands, then for its reflected form with
/// the second one first; NotImplemented if all asked say so.
PyObject* ask_operands(const char* name, const char* reflected, PyObject* a,
                       PyObject* b);

/// True if ask() would find somebody.
bool overridden(const Call& call);
/// The same without __torch_dispatch__.
bool overridden_as_function(const Call& call);
bool overridden(std::initializer_list<PyObject*> args);

/// A name of Tensor's as a template argument.
template <size_t kSize>
struct Name {
  constexpr Name(const char (&chars)[kSize]) {
    std::copy_n(chars, kSize, text);
  }
  char text[kSize];
};

// Members of Tensor that subclasses may answer, made of those that do not ask.

template <Name kName, getter F>
PyObject* get(PyObject* self, void*) {
  if (possible) [[unlikely]] {
    note_question(kName.text, self);
    if (overridden({self})) return ask_attribute(kName.text, "__get__", {self});
  }
  return F(self, nullptr);
}

template <Name kName, setter F>
int set(PyObject* self, PyObject* value, void*) {
  if (possible && value && overridden({self, value})) [[unlikely]] {
    PyObject* answer = ask_attribute(kName.text, "__set__", {self, value});
    Py_XDECREF(answer);
    return answer ? 0 : -1;
  }
  return F(self, value, nullptr);
}

template <Name kName, unaryfunc F>
PyObject* unary(PyObject* self) {
  if (possible) [[unlikely]] {
    note_question(kName.text, self);
    if (overridden({self})) return ask_attribute(kName.text, nullptr, {self});
  }
  return F(self);
}

template <Name kName, unaryfunc F>
PyObject* method(PyObject* self, PyObject*) {
  return unary<kName, F>(self);
}

/// The answer to an operator: a TypeError leaves it to the other operand, as
/// with PyTorch's operators.
inline PyObject* or_not_implemented(PyObject* answer) {
  if (answer || !PyErr_ExceptionMatches(PyExc_TypeError)) return answer;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

/// Operators of two operands; the second name is that of `1 - tensor`, called
/// with the tensor first. Objects that are no tensors are asked where F does
/// not know them.
template <Name kName, Name kReflected, binaryfunc F>
PyObject* binary(PyObject* a, PyObject* b) {
  if (possible && overridden({a, b})) [[unlikely]]
    return or_not_implemented(ask_operands(kName.text, kReflected.text, a, b));
  PyObject* result = F(a, b);
  if (result != Py_NotImplemented || !overridden({a, b})) return result;
  Py_DECREF(result);
  return or_not_implemented(ask_operands(kName.text, kReflected.text, a, b));
}

void init_overrides(nanobind::module_& m);

}  // namespace hotaru::python::overrides
