// TorchScript classes and modules made of Python objects.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings/autograd/held.h"
#include "bindings/gil.h"
#include "bindings/script/script_source.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/hooks.h"
#include "hotaru/script/program/module.h"

namespace hotaru::python {
namespace {

using script::Attribute;
using script::ClassType;

ScriptClass define_class(const SourceUnit& self, const std::string& name,
                         const std::string& kind_name) {
  const GilRelease release;
  const std::lock_guard lock(self.unit->mutex());
  using Kind = ClassType::Kind;
  const Kind kind = kind_name == "module"             ? Kind::kModule
                    : kind_name == "interface"        ? Kind::kInterface
                    : kind_name == "module interface" ? Kind::kModuleInterface
                                                      : Kind::kObject;
  return {self.unit, self.unit->add_class(std::make_unique<ClassType>(
                         *self.unit, self.unit->unique_name(name), kind))};
}

void add_attribute(const ScriptClass& self, const std::string& name,
                   const ScriptType& type, bool parameter, bool buffer) {
  self.cls->add_attribute({.name = name,
                           .type = type.type,
                           .is_parameter = parameter,
                           .is_buffer = buffer});
}

void set_container(const ScriptClass& self, const std::string& kind) {
  self.cls->set_container(kind == "dict" ? ClassType::Container::kDict
                                         : ClassType::Container::kList);
}

void set_member_loader(const ScriptClass& self, nb::object loader) {
  self.cls->set_member_loader(
      [unit = self.unit.get(),
       held = std::make_shared<Held>(std::move(loader))](
          std::string_view name, const ClassType::SuperCall* super) {
        const GilAcquire gil;
        return to_meaning(*unit,
                          super ? held->get()(name, super->method, super->cls)
                                : held->get()(name));
      });
}

script::Module make_module(const ScriptClass& self, const nb::dict& values) {
  Ref<InstanceObject> instance = script::make_instance(*self.cls);
  for (auto [key, object] : values) {
    const auto name = nb::cast<std::string>(key);
    const int slot = self.cls->find_attribute(name);
    HOTARU_CHECK(slot >= 0, "'", self.cls->name(), "' has no attribute '", name,
                 "'");
    const Attribute& attribute = self.cls->attributes()[size_t(slot)];
    Value value = to_value(object.ptr());
    const GilRelease release;  // it may compile
    HOTARU_CHECK(script::convert_value(value, attribute.type), "attribute '",
                 name, "' should be of type '", attribute.type->annotation(),
                 "', but its value is of type '", value.type_name(), "'",
                 script::interface_trouble(value, attribute.type));
    instance->slots[size_t(slot)] = std::move(value);
  }
  return script::Module(std::move(instance));
}

}  // namespace

bool python_instance(PyObject* object, Value* out) {
  // In the class itself: its subclasses are not compiled.
  PyObject* mark = PyDict_GetItemString(type_dict(Py_TYPE(object)),
                                        "__hotaru_script_class__");
  if (!mark) return false;
  const auto& compiled = nb::cast<ScriptClass&>(nb::handle(mark));
  // Objects may hold objects that hold the first.
  constexpr int kMaxDepth = 100;
  static thread_local int depth = 0;
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } level;
  HOTARU_CHECK(depth <= kMaxDepth, "objects of '", compiled.cls->name(),
               "' are nested more than ", kMaxDepth, " levels deep");
  Ref<InstanceObject> instance = script::make_instance(*compiled.cls);
  const std::vector<Attribute>& attributes = compiled.cls->attributes();
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::string& name = attributes[i].name;
    HOTARU_CHECK(nb::hasattr(object, name.c_str()),
                 "Tried to cast object to type ", compiled.cls->name(),
                 " but object was missing attribute ", name);
    Value value = to_value(nb::handle(object).attr(name.c_str()).ptr());
    const GilRelease release;  // it may compile
    HOTARU_CHECK(script::convert_value(value, attributes[i].type),
                 "Could not cast attribute '", name, "' to type ",
                 attributes[i].type->str(), ": it is of type '",
                 value.type_name(), "'");
    instance->slots[i] = std::move(value);
  }
  *out = Value(std::move(instance));
  return true;
}

void init_script_class(nb::module_& m) {
  nb::class_<ScriptClass>(m, "ScriptClass", "A class of TorchScript.")
      .def_prop_ro("name",
                   [](const ScriptClass& self) { return self.cls->name(); })
      .def_prop_ro("type",
                   [](const ScriptClass& self) {
                     return ScriptType{self.unit, self.cls->type()};
                   })
      .def("has_attribute",
           [](const ScriptClass& self, std::string_view name) {
             return self.cls->find_attribute(name) >= 0;
           })
      .def_prop_ro(
          "is_module",
          [](const ScriptClass& self) { return self.cls->is_module(); })
      .def("has_method",
           [](const ScriptClass& self, std::string_view name) {
             return self.cls->find_method(name) != nullptr;
           })
      .def("add_attribute", &add_attribute, nb::arg("name"), nb::arg("type"),
           nb::arg("parameter") = false, nb::arg("buffer") = false)
      .def(
          "add_constant",
          [](const ScriptClass& self, const std::string& name,
             nb::handle value) {
            self.cls->add_constant(name, to_value(value.ptr()));
          },
          nb::arg("name"), nb::arg("value").none())
      .def("add_method",
           [](const ScriptClass& self, const std::string& name,
              const ScriptFunction& method) {
             self.cls->add_method(name, method.function);
           })
      .def(
          "add_hook",
          [](const ScriptClass& self, const ScriptFunction& hook, bool before) {
            self.cls->add_hook(before ? ClassType::HookTime::kBefore
                                      : ClassType::HookTime::kAfter,
                               hook.function);
          })
      .def("check_hooks",
           [](const ScriptClass& self) {
             const GilRelease release;
             const std::lock_guard lock(self.unit->mutex());
             script::check_hooks(*self.cls);
           })
      .def("add_property",
           [](const ScriptClass& self, const std::string& name) {
             self.cls->add_property(name);
           })
      .def("set_open",
           [](const ScriptClass& self, bool open) { self.cls->set_open(open); })
      .def("set_container", &set_container)
      .def("set_member_loader", &set_member_loader)
      .def("make_module", &make_module);
  m.def("_script_define_class", &define_class);
}

}  // namespace hotaru::python
