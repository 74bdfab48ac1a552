#include "bindings/script_object.h"
#include "hotaru/core/error.h"

namespace hotaru::python {

bool script_to_value(PyObject*, Value*) {
  return false;
}
PyObject* script_to_python(const Value&) {
  fail<TypeError>("script objects have no counterpart in Python");
}
void init_script(nanobind::module_&) {}

}  // namespace hotaru::python
