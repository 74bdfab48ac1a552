#include "bindings/runtime/callers.h"

#include "bindings/stable_abi.h"
#include "hotaru/runtime/threads/admission.h"

namespace nb = nanobind;

namespace hotaru::python {
namespace {

/// Has an attribute `many` that says whether there are; and what it says now.
PyObject* told_of_callers = nullptr;
bool told = false;

PyObject* watch_callers(PyObject*, PyObject* object) {
  set_owned(told_of_callers, Py_NewRef(object));
  if (PyObject_SetAttrString(object, "many", told ? Py_True : Py_False) != 0)
    return nullptr;
  Py_RETURN_NONE;
}

/// (callable, *args, **kwargs): calls it, as the thread's outermost call when
/// its turn comes.
PyObject* call_in_order(PyObject*, PyObject* const* args, Py_ssize_t n,
                        PyObject* keywords) {
  if (n < 1) {
    PyErr_SetString(PyExc_TypeError, "_call_in_order() needs a callable");
    return nullptr;
  }
  const AdmittedCall call;
  return PyObject_Vectorcall(args[0], args + 1, size_t(n - 1), keywords);
}

PyMethodDef methods[] = {
    {"_watch_callers", &watch_callers, METH_O,
     "_watch_callers(object)\n\nKeeps object.many up to date: whether more "
     "threads call than there are cores."},
    {"_call_in_order",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call_in_order)),
     METH_FASTCALL | METH_KEYWORDS,
     "_call_in_order(callable, *args, **kwargs)\n\nCalls it when this "
     "thread's turn comes."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void note_caller() {
  Admission& admission = Admission::instance();
  admission.note_caller();
  const bool many = admission.crowded();
  if (many == told || !told_of_callers) return;
  told = many;
  if (PyObject_SetAttrString(told_of_callers, "many",
                             many ? Py_True : Py_False) != 0)
    PyErr_Clear();
}

void init_callers(nb::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), methods) != 0) throw nb::python_error();
}

}  // namespace hotaru::python
