#include "bindings/script/script_own.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/gil.h"
#include "bindings/script/script_source.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/script/program/own_class.h"

namespace hotaru::python {

namespace nb = nanobind;

using script::OwnClass;
using script::OwnMethod;

namespace {

const OwnClass& class_named(const std::string& name) {
  const OwnClass* cls = script::find_own_class(name);
  HOTARU_CHECK(cls, "Tried to instantiate class '", name,
               "', but it does not exist! Ensure that it is registered via "
               "torch::class_");
  return *cls;
}

/// Calls it with `first`, unless that is None, and what Python gives.
nb::object call(const OwnMethod& method, const Value& first,
                const nb::args& args, const nb::kwargs& kwargs) {
  std::vector<Value> positional;
  if (!first.is_none()) positional.push_back(first);
  for (nb::handle a : args) positional.push_back(to_value(a.ptr()));
  std::vector<std::pair<std::string, Value>> keywords;
  for (auto [key, value] : kwargs)
    keywords.emplace_back(nb::cast<std::string>(key), to_value(value.ptr()));
  std::vector<Value> bound = script::bind_own_method(
      method, std::move(positional), std::move(keywords));
  Value result;
  {
    const GilRelease release;
    result = script::call_own_method(method, std::move(bound));
  }
  return nb::steal(to_python(result));
}

const OwnMethod& method_of(const Value& object, const std::string& name) {
  const OwnMethod* method = script::own_class_of(object)->find(name);
  if (!method || method->is_static) {
    const std::string why =
        concat(script::own_class_of(object)->name(),
               " does not have a field with name '", name, "'");
    throw nb::attribute_error(why.c_str());
  }
  return *method;
}

nb::object construct(const std::string& name, const nb::args& args,
                     const nb::kwargs& kwargs) {
  const OwnClass& cls = class_named(name);
  const Value object(script::own_instance(cls));
  if (const OwnMethod* method = cls.find("__init__"))
    call(*method, object, args, kwargs);
  else
    fail<Error>(name, " has no constructor (torch::init)");
  return nb::steal(to_python(object));
}

/// An object with a state, as copies and pickles make them.
nb::object restore(const std::string& name, nb::handle state) {
  const OwnClass& cls = class_named(name);
  const Value object(script::own_instance(cls));
  call(method_of(object, "__setstate__"), object,
       nb::cast<nb::args>(nb::make_tuple(state)), nb::kwargs());
  return nb::steal(to_python(object));
}

}  // namespace

nb::object own_attribute(const Value& object, const std::string& name) {
  if (const OwnMethod* getter =
          script::own_class_of(object)->find(name + "_getter");
      getter && getter->is_property)
    return call(*getter, object, nb::args(), nb::kwargs());
  const OwnMethod& method = method_of(object, name);
  return nb::cpp_function(
      [object, &method](const nb::args& args, const nb::kwargs& kwargs) {
        return call(method, object, args, kwargs);
      });
}

void set_own_attribute(const Value& object, const std::string& name,
                       nb::handle value) {
  const OwnClass& cls = *script::own_class_of(object);
  const OwnMethod* getter = cls.find(name + "_getter");
  HOTARU_CHECK(!getter || cls.find(name + "_setter"), "can't set attribute '",
               name, "' of ", cls.name());
  call(method_of(object, name + "_setter"), object,
       nb::cast<nb::args>(nb::make_tuple(value)), nb::kwargs());
}

void init_own_classes(nb::module_& m) {
  m.def("_own_class_names", &script::own_class_names);
  m.def("_own_class_doc",
        [](const std::string& name) { return class_named(name).doc(); });
  m.def("_own_class_static",
        [](const std::string& name, const std::string& method_name) {
          const OwnMethod* method = class_named(name).find(method_name);
          if (!method || !method->is_static)
            throw nb::attribute_error(method_name.c_str());
          return nb::cpp_function(
              [method](const nb::args& args, const nb::kwargs& kwargs) {
                return call(*method, Value(), args, kwargs);
              });
        });
  m.def("_own_class_new", &construct);
  m.def("_own_class_restore", &restore);
  m.def("_own_class_type", [](const SourceUnit& unit, const std::string& name) {
    class_named(name);
    const GilRelease release;
    return ScriptType{unit.unit, unit.unit->find_type(name)};
  });
}

}  // namespace hotaru::python
