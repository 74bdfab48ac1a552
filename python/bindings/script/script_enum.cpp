// Members of Python's Enum classes as values of programs, and back.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/gil.h"
#include "bindings/script/script_object.h"
#include "bindings/script/script_source.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::python {
namespace {

using script::EnumType;

/// enum.EnumMeta, kept for good. Python's module is imported when the first
/// object comes whose class has a metaclass: it is slow, and few ask for it.
PyTypeObject* enum_meta() {
  static PyObject* meta = nullptr;  // under the GIL
  if (!meta) {
    nb::object found = nb::module_::import_("enum").attr("EnumMeta");
    if (!meta) meta = found.release().ptr();
  }
  return reinterpret_cast<PyTypeObject*>(meta);
}

ScriptType enumeration(
    const SourceUnit& self, const std::string& name,
    const std::vector<std::pair<std::string, nb::object>>& members,
    bool by_value) {
  std::vector<std::pair<std::string, Value>> values;
  for (const auto& [member, value] : members)
    values.emplace_back(member, to_value(value.ptr()));
  const GilRelease release;
  const std::lock_guard lock(self.unit->mutex());
  auto type = script::make_enum(self.unit->unique_name(name), std::move(values),
                                by_value);
  return {self.unit, self.unit->types().enumeration(type)};
}

}  // namespace

bool enum_to_value(PyObject* object, Value* out) {
  PyTypeObject* meta = Py_TYPE(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  if (meta == &PyType_Type || !PyType_IsSubtype(meta, enum_meta()))
    return false;
  const nb::object type =
      nb::module_::import_("hotaru.jit._script")
          .attr("enum_type")(nb::handle((PyObject*)Py_TYPE(object)));
  EnumType& cls = *nb::cast<ScriptType&>(type).type->enumeration;
  const auto name = nb::cast<std::string>(nb::handle(object).attr("_name_"));
  const int i = cls.find_name(name);
  HOTARU_CHECK_AS(TypeError, i >= 0, "'", name, "' is no member of '", cls.name,
                  "'");
  *out = script::enum_member(cls, i);
  return true;
}

nb::object enum_to_python(const Value& value) {
  const EnumType& cls = *script::enum_of(value);
  nb::list members;
  for (const auto& [name, member] : cls.members)
    members.append(nb::make_tuple(name, nb::steal(to_python(member))));
  return nb::module_::import_("hotaru.jit._declared.enums")
      .attr("member")(cls.name, nb::tuple(members),
                      value.as_instance().slots[EnumType::kName].as_string());
}

void init_script_enum(nb::module_& m) {
  m.def("_script_enumeration", &enumeration);
}

}  // namespace hotaru::python
