// Ways into CPython's objects that its stable ABI lacks, each with one meaning
// and two implementations: the macros of the version that the extension is
// compiled for, and for one extension of all versions from 3.12 on
// (HOTARU_STABLE_ABI) what those have in common. Layouts are not assumed there:
// init_stable_abi() finds them, and refuses an interpreter that has others.
#pragma once

#include <Python.h>
#include <structmember.h>

#include <cstdint>
#include <string_view>

namespace hotaru::python {

#ifdef Py_LIMITED_API

/// Functions that CPython exports without a promise for all versions, and where
/// things lie in its objects.
struct Interpreter {
  int (*holds_lock)();
  PyObject* (*type_dict)(PyTypeObject*);
  PyObject* (*look_up)(PyTypeObject*, PyObject*);  // null: asked in Python
  PyObject* (*bound_method)(PyObject*, PyObject*);
  PyObject* (*function_code)(PyObject*);
  PyObject* (*function_defaults)(PyObject*);
  PyObject* (*function_keyword_defaults)(PyObject*);
  PyObject* (*cell_value)(PyObject*);
  int (*add_dict_watcher)(int (*)(int, PyObject*, PyObject*, PyObject*));
  int (*watch_dict)(int, PyObject*);
  PyTypeObject* function_type;
  PyTypeObject* cell_type;
  /// Bytes from a tuple to its items.
  Py_ssize_t tuple_items;
  /// Word of a type that is its finalizer.
  size_t finalizer_word;
};
extern Interpreter interpreter;

/// Throws ImportError where the interpreter is not as it must be.
void init_stable_abi();

/// Header of a member's descriptor, as it is since Python 2.
struct MemberDescriptor {
  PyObject_HEAD PyTypeObject* type;
  PyObject* name;
  PyObject* qualified_name;
  PyMemberDef* member;
};

inline bool holds_lock() {
  return interpreter.holds_lock();
}

// The first word of a type behind its header.
inline const char*& type_name(PyTypeObject* type) {
  return *reinterpret_cast<const char**>(reinterpret_cast<char*>(type) +
                                         sizeof(PyVarObject));
}
inline destructor& finalizer(PyTypeObject* type) {
  return reinterpret_cast<destructor*>(type)[interpreter.finalizer_word];
}
inline PyObject* type_dict(PyTypeObject* type) {
  PyObject* dict = interpreter.type_dict(type);
  Py_XDECREF(dict);  // the type has it
  return dict;
}
PyObject* look_up(PyTypeObject* type, PyObject* name);

// Half of a word from 3.12 on; 3.14 keeps flags in the other half.
inline uint32_t& reference_word(PyObject* object) {
  return *reinterpret_cast<uint32_t*>(object);
}
inline Py_ssize_t references(PyObject* object) {
  return reference_word(object);
}
inline void set_references(PyObject* object, uint32_t count) {
  reference_word(object) = count;
}
/// PyObject_CallFinalizerFromDealloc for an object of exactly this type.
inline int finalize_in_dealloc(PyObject* object) {
  if (PyObject_GC_IsFinalized(object)) return 0;
  set_references(object, 1);
  finalizer(Py_TYPE(object))(object);
  set_references(object, reference_word(object) - 1);
  return reference_word(object) ? -1 : 0;
}

inline Py_ssize_t tuple_size(PyObject* tuple) {
  return Py_SIZE(tuple);
}
inline PyObject** tuple_items(PyObject* tuple) {
  return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(tuple) +
                                      interpreter.tuple_items);
}
inline PyObject* list_item(PyObject* list, Py_ssize_t i) {
  return PyList_GetItem(list, i);
}
inline void put_list_item(PyObject* list, Py_ssize_t i, PyObject* item) {
  PyList_SetItem(list, i, item);
}
inline Py_ssize_t dict_size(PyObject* dict) {
  return PyDict_Size(dict);
}
inline double float_value(PyObject* object) {
  return PyFloat_AsDouble(object);
}

inline PyObject* bound_method(PyObject* function, PyObject* self) {
  return interpreter.bound_method(function, self);
}
inline bool is_function(PyObject* object) {
  return Py_TYPE(object) == interpreter.function_type;
}
inline PyObject* function_code(PyObject* function) {
  return interpreter.function_code(function);
}
inline PyObject* function_defaults(PyObject* function) {
  return interpreter.function_defaults(function);
}
inline PyObject* function_keyword_defaults(PyObject* function) {
  return interpreter.function_keyword_defaults(function);
}
inline bool is_cell(PyObject* object) {
  return Py_TYPE(object) == interpreter.cell_type;
}
inline PyObject* cell_value(PyObject* cell) {
  PyObject* value = interpreter.cell_value(cell);
  Py_XDECREF(value);  // the cell has it
  return value;
}
using DictEvent = int;
inline constexpr DictEvent kDictGone = 5;
inline int add_dict_watcher(int (*callback)(DictEvent, PyObject*, PyObject*,
                                            PyObject*)) {
  return interpreter.add_dict_watcher(callback);
}
inline int watch_dict(int watcher, PyObject* dict) {
  return interpreter.watch_dict(watcher, dict);
}
inline PyTypeObject* member_class(PyObject* descriptor) {
  return reinterpret_cast<MemberDescriptor*>(descriptor)->type;
}
inline const PyMemberDef* member_of(PyObject* descriptor) {
  return reinterpret_cast<MemberDescriptor*>(descriptor)->member;
}
inline PyObject* slice_part(PyObject* slice, int part) {
  // Behind the header: start, stop, step.
  return *(reinterpret_cast<PyObject**>(reinterpret_cast<char*>(slice) +
                                        sizeof(PyObject)) +
           part);
}

#else

inline void init_stable_abi() {}

inline bool holds_lock() {
  return PyGILState_Check();
}
inline const char*& type_name(PyTypeObject* type) {
  return type->tp_name;
}
inline destructor& finalizer(PyTypeObject* type) {
  return type->tp_finalize;
}
inline PyObject* type_dict(PyTypeObject* type) {
  return type->tp_dict;
}
/// An attribute of a class as its objects find it, borrowed, without any call;
/// null without an error where there is none.
inline PyObject* look_up(PyTypeObject* type, PyObject* name) {
  return _PyType_Lookup(type, name);
}

inline Py_ssize_t references(PyObject* object) {
  return Py_REFCNT(object);
}
inline void set_references(PyObject* object, uint32_t count) {
  Py_SET_REFCNT(object, Py_ssize_t(count));
}
inline int finalize_in_dealloc(PyObject* object) {
  return PyObject_CallFinalizerFromDealloc(object);
}

inline Py_ssize_t tuple_size(PyObject* tuple) {
  return PyTuple_GET_SIZE(tuple);
}
inline PyObject** tuple_items(PyObject* tuple) {
  return &PyTuple_GET_ITEM(tuple, 0);
}
inline PyObject* list_item(PyObject* list, Py_ssize_t i) {
  return PyList_GET_ITEM(list, i);
}
inline void put_list_item(PyObject* list, Py_ssize_t i, PyObject* item) {
  PyList_SET_ITEM(list, i, item);
}
inline Py_ssize_t dict_size(PyObject* dict) {
  return PyDict_GET_SIZE(dict);
}
inline double float_value(PyObject* object) {
  return PyFloat_AS_DOUBLE(object);
}

inline PyObject* bound_method(PyObject* function, PyObject* self) {
  return PyMethod_New(function, self);
}
inline bool is_function(PyObject* object) {
  return PyFunction_Check(object);
}
inline PyObject* function_code(PyObject* function) {
  return PyFunction_GET_CODE(function);
}
inline PyObject* function_defaults(PyObject* function) {
  return PyFunction_GET_DEFAULTS(function);
}
inline PyObject* function_keyword_defaults(PyObject* function) {
  return PyFunction_GET_KW_DEFAULTS(function);
}
inline bool is_cell(PyObject* object) {
  return PyCell_Check(object);
}
inline PyObject* cell_value(PyObject* cell) {
  return PyCell_GET(cell);
}
#if PY_VERSION_HEX >= 0x030C0000
using DictEvent = PyDict_WatchEvent;
/// The event of a dict that dies.
inline constexpr DictEvent kDictGone = PyDict_EVENT_DEALLOCATED;
inline int add_dict_watcher(PyDict_WatchCallback callback) {
  return PyDict_AddWatcher(callback);
}
inline int watch_dict(int watcher, PyObject* dict) {
  return PyDict_Watch(watcher, dict);
}
#endif
inline PyTypeObject* member_class(PyObject* descriptor) {
  return reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_common.d_type;
}
inline const PyMemberDef* member_of(PyObject* descriptor) {
  return reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_member;
}
/// Its start (0), stop (1) or step (2), borrowed.
inline PyObject* slice_part(PyObject* slice, int part) {
  return (&reinterpret_cast<PySliceObject*>(slice)->start)[part];
}

#endif

// Answers that follow from these, or have a longer name in the stable ABI.

/// The name in messages of an object's class, "numpy.ndarray".
inline const char* class_name(PyObject* object) {
  return type_name(Py_TYPE(object));
}
inline PyObject* tuple_item(PyObject* tuple, Py_ssize_t i) {
  return tuple_items(tuple)[i];
}
/// Fills a place of a new tuple; takes the reference.
inline void put_tuple_item(PyObject* tuple, Py_ssize_t i, PyObject* item) {
  tuple_items(tuple)[i] = item;
}
// A list or a tuple.
inline Py_ssize_t sequence_size(PyObject* sequence) {
  return Py_SIZE(sequence);
}
inline PyObject* sequence_item(PyObject* sequence, Py_ssize_t i) {
  return PyList_Check(sequence) ? list_item(sequence, i)
                                : tuple_item(sequence, i);
}
/// Null with an error where it can't be encoded.
inline const char* text_data(PyObject* text) {
  return PyUnicode_AsUTF8AndSize(text, nullptr);
}
inline std::string_view view_of_bytes(PyObject* bytes) {
  return {PyBytes_AsString(bytes), size_t(Py_SIZE(bytes))};
}
/// Changes what a variable owns; takes the reference.
inline void set_owned(PyObject*& variable, PyObject* object) {
  PyObject* old = variable;
  variable = object;
  Py_XDECREF(old);
}

}  // namespace hotaru::python
