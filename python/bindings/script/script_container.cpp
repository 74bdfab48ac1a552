// Lists and dicts that Python and compiled code share: neither copies them.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/gil.h"
#include "bindings/script/script_source.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::python {
namespace {

/// The list or dict of one type. The Python classes over it (jit/_containers)
/// have the methods; what is put in is of the elements' type or a TypeError.
struct ScriptContainer {
  std::shared_ptr<script::CompilationUnit> unit;
  script::TypePtr type;
  Value value;

  std::vector<Value>& items() { return value.as_list().items; }
  DictObject& dict() { return value.as_dict(); }
};

Value fitted(const ScriptContainer& self, nb::handle object, size_t part) {
  Value value = to_value(object.ptr());
  script::TypePtr type = self.type->items[part];
  bool fits;
  {
    const GilRelease release;  // it may compile
    fits = script::convert_value(value, type);
  }
  HOTARU_CHECK_AS(TypeError, fits, "expected a value of type '",
                  type->annotation(), "', not '", value.type_name(), "'");
  return value;
}

size_t place(ScriptContainer& self, int64_t i) {
  const auto size = int64_t(self.items().size());
  HOTARU_CHECK_AS(IndexError, i >= 0 && i < size, script::kListIndex);
  return size_t(i);
}

void init_lists(nb::class_<ScriptContainer>& c) {
  c.def(
      "_fits",
      [](const ScriptContainer& self, nb::handle object) {
        fitted(self, object, 0);
      },
      nb::arg("value").none());
  c.def("_at",
        [](ScriptContainer& self, int64_t i) {
          return to_python_typed(self.items()[place(self, i)],
                                 self.type->items[0]);
        })
      .def(
          "_put",
          [](ScriptContainer& self, int64_t i, nb::handle object) {
            Value value = fitted(self, object, 0);
            self.items()[place(self, i)] = std::move(value);
          },
          nb::arg("index"), nb::arg("value").none())
      .def(
          "_insert",
          [](ScriptContainer& self, int64_t i, nb::handle object) {
            Value value = fitted(self, object, 0);
            auto& items = self.items();
            const auto at = std::clamp<int64_t>(i, 0, int64_t(items.size()));
            items.insert(items.begin() + at, std::move(value));
          },
          nb::arg("index"), nb::arg("value").none())
      .def("_remove", [](ScriptContainer& self, int64_t i) {
        auto& items = self.items();
        items.erase(items.begin() + std::ptrdiff_t(place(self, i)));
      });
}

void init_dicts(nb::class_<ScriptContainer>& c) {
  c.def("_keys",
        [](ScriptContainer& self) {
          nb::list out;
          for (const auto& [key, _] : self.dict().items)
            out.append(nb::steal(to_python(key)));
          return out;
        })
      .def(
          "_find",
          [](ScriptContainer& self, nb::handle key) {
            const Value* found = self.dict().find(fitted(self, key, 0));
            if (!found) return nb::make_tuple();
            return nb::make_tuple(to_python_typed(*found, self.type->items[1]));
          })
      .def(
          "_set",
          [](ScriptContainer& self, nb::handle key, nb::handle value) {
            Value known = fitted(self, key, 0);
            Value given = fitted(self, value, 1);
            self.dict().set(std::move(known), std::move(given));
          },
          nb::arg("key"), nb::arg("value").none())
      .def("_erase", [](ScriptContainer& self, nb::handle key) {
        return self.dict().erase(fitted(self, key, 0));
      });
}

}  // namespace

bool container_value(PyObject* object, Value* out) {
  if (!nb::isinstance<ScriptContainer>(object)) return false;
  *out = nb::inst_ptr<ScriptContainer>(object)->value;
  return true;
}

void init_script_container(nb::module_& m) {
  nb::class_<ScriptContainer> c(m, "_ScriptContainer",
                                "A list or dict that compiled code shares.");
  c.def("__init__",
        [](ScriptContainer* self, const ScriptType& type, nb::handle object) {
          Value value = to_value(object.ptr());
          bool fits;
          {
            const GilRelease release;
            fits = script::convert_value(value, type.type);
          }
          HOTARU_CHECK_AS(TypeError, fits, "expected a value of type '",
                          type.type->annotation(), "'");
          new (self) ScriptContainer{type.unit, type.type, std::move(value)};
        });
  c.def("__len__", [](ScriptContainer& self) {
    return self.value.is_list() ? self.items().size()
                                : self.dict().items.size();
  });
  c.def_prop_ro("_type", [](const ScriptContainer& self) {
    return ScriptType{self.unit, self.type};
  });
  init_lists(c);
  init_dicts(c);
}

}  // namespace hotaru::python
