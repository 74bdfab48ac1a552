#include "bindings/stable_abi.h"

#ifdef Py_LIMITED_API

#include <nanobind/nanobind.h>

#include <cstring>

#include "hotaru/platform/shared_object.h"

namespace hotaru::python {

namespace nb = nanobind;

Interpreter interpreter{};

namespace {

[[noreturn]] void refuse(const char* trouble) {
  PyErr_Format(PyExc_ImportError,
               "this Python is none that hotaru's extension for all Pythons "
               "from 3.12 on knows: %s; build hotaru for it from its sources",
               trouble);
  throw nb::python_error();
}

template <class F>
void find(F*& function, const char* name, bool needed = true) {
  function = reinterpret_cast<F*>(platform::symbol_of(nullptr, name));
  if (!function && needed) refuse(name);
}

/// Finds where a tuple has its items, and tries it on one.
void find_tuple_items() {
  const nb::handle type(reinterpret_cast<PyObject*>(&PyTuple_Type));
  interpreter.tuple_items = nb::cast<Py_ssize_t>(type.attr("__basicsize__"));
  const nb::tuple sample = nb::make_tuple("a", 2.5, nb::none());
  for (Py_ssize_t i = 0; i < 3; ++i)
    if (tuple_items(sample.ptr())[i] != PyTuple_GetItem(sample.ptr(), i))
      refuse("items of tuples");
}

// Found in a class of its own that is finalized by it and nothing else is.
void sample_finalizer(PyObject*) {}

void find_finalizer() {
  PyType_Slot slots[] = {
      {Py_tp_finalize, reinterpret_cast<void*>(sample_finalizer)},
      {0, nullptr}};
  PyType_Spec spec{"hotaru._C._Finalized", int(sizeof(PyObject)), 0,
                   Py_TPFLAGS_DEFAULT, slots};
  const nb::object sample = nb::steal(PyType_FromSpec(&spec));
  if (!sample.is_valid()) throw nb::python_error();
  const nb::handle meta(reinterpret_cast<PyObject*>(&PyType_Type));
  const size_t words =
      nb::cast<size_t>(meta.attr("__basicsize__")) / sizeof(void*);
  auto* type = reinterpret_cast<PyTypeObject*>(sample.ptr());
  size_t& word = interpreter.finalizer_word;
  for (word = 3; word < words; ++word)
    if (finalizer(type) == sample_finalizer) break;
  if (word == words) refuse("finalizers");
  if (std::strcmp(type_name(type), spec.name) != 0) refuse("names of types");
}

void find_members() {
  const nb::object closure = nb::borrow(PyDict_GetItemString(
      type_dict(interpreter.function_type), "__closure__"));
  if (!closure.is_valid() || Py_TYPE(closure.ptr()) != &PyMemberDescr_Type ||
      member_class(closure.ptr()) != interpreter.function_type ||
      std::strcmp(member_of(closure.ptr())->name, "__closure__") != 0)
    refuse("descriptors of members");
}

void find_slices() {
  const nb::object one = nb::int_(1000001), two = nb::int_(1000002),
                   three = nb::int_(1000003);
  const nb::object slice =
      nb::steal(PySlice_New(one.ptr(), two.ptr(), three.ptr()));
  if (slice_part(slice.ptr(), 0) != one.ptr() ||
      slice_part(slice.ptr(), 1) != two.ptr() ||
      slice_part(slice.ptr(), 2) != three.ptr())
    refuse("slices");
}

void find_references() {
  const nb::list sample;
  const Py_ssize_t before = references(sample.ptr());
  const nb::object another = nb::borrow(sample);
  if (before != 1 || references(sample.ptr()) != 2)
    refuse("counts of references");
}

}  // namespace

void init_stable_abi() {
  Interpreter& found = interpreter;
  find(found.holds_lock, "PyGILState_Check");
  find(found.type_dict, "PyType_GetDict");
  find(found.look_up, "_PyType_Lookup", /*needed=*/false);
  find(found.bound_method, "PyMethod_New");
  find(found.function_code, "PyFunction_GetCode");
  find(found.function_defaults, "PyFunction_GetDefaults");
  find(found.function_keyword_defaults, "PyFunction_GetKwDefaults");
  find(found.cell_value, "PyCell_Get");
  find(found.add_dict_watcher, "PyDict_AddWatcher");
  find(found.watch_dict, "PyDict_Watch");
  find(found.function_type, "PyFunction_Type");
  find(found.cell_type, "PyCell_Type");
  find_tuple_items();
  find_finalizer();
  find_members();
  find_slices();
  find_references();
}

PyObject* look_up(PyTypeObject* type, PyObject* name) {
  if (interpreter.look_up) return interpreter.look_up(type, name);
  const nb::handle object(reinterpret_cast<PyObject*>(type));
  for (nb::handle base : nb::borrow<nb::tuple>(object.attr("__mro__"))) {
    PyObject* dict = type_dict(reinterpret_cast<PyTypeObject*>(base.ptr()));
    PyObject* found = PyDict_GetItemWithError(dict, name);
    if (found) return found;
    PyErr_Clear();
  }
  return nullptr;
}

}  // namespace hotaru::python

#endif
