#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bytes.h"
#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/graph/graph.h"
#include "bindings/script/script_object.h"
#include "bindings/script/script_own.h"
#include "bindings/script/script_source.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/error.h"
#include "hotaru/io/torch_file.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/passes/freeze.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::python {
namespace {

using script::Module;

/// An instance of a TorchScript class that is no module.
struct ScriptObject {
  Value value;
};

/// A method bound to its module; what Python calls.
struct ScriptMethod {
  Module module;
  std::string name;
};

/// The Python class that stands for modules, and its exception class; both
/// are made by hotaru.jit when it is imported, and kept for good.
PyObject* module_class = nullptr;
PyObject* error_factory = nullptr;

nb::object wrap_module(const Module& module) {
  if (!module_class) nb::module_::import_("hotaru.jit");
  return nb::handle(module_class).attr("_wrap")(nb::cast(module));
}

/// A module whose class is native here, behind a ScriptModule of Python's.
const Module* module_of(PyObject* object) {
  if (nb::isinstance<Module>(object)) return nb::inst_ptr<Module>(object);
  if (!module_class || PyObject_IsInstance(object, module_class) != 1)
    return nullptr;
  const nb::object native = nb::handle(object).attr("_c");
  return nb::inst_ptr<Module>(native);
}

Value call(const ScriptMethod& method, const nb::args& args,
           const nb::kwargs& kwargs) {
  count_module_change();  // its code may set attributes
  std::vector<Value> arguments;
  for (nb::handle a : args) arguments.push_back(to_value(a.ptr()));
  script::KeywordArguments keywords;
  for (auto [name, value] : kwargs)
    keywords.emplace_back(nb::cast<std::string>(name), to_value(value.ptr()));
  const GilRelease release;
  try {
    return method.module.call(method.name, std::move(arguments),
                              std::move(keywords));
  } catch (const TypeError& e) {
    fail(e.what());  // RuntimeError, as PyTorch has it
  }
}

template <class T>
nb::list pairs(const std::vector<std::pair<std::string, T>>& items) {
  nb::list out;
  for (const auto& [name, item] : items) out.append(nb::make_tuple(name, item));
  return out;
}

using ExtraFiles = std::map<std::string, std::string>;

/// Extra files go both ways: names in, contents out.
template <class Load>
nb::object load_with(const nb::dict& extra, Load load) {
  ExtraFiles files;
  for (auto [name, _] : extra) files[nb::cast<std::string>(name)];
  std::optional<Module> module;
  {
    const GilRelease release;
    module = load(files.empty() ? nullptr : &files);
  }
  nb::dict target(extra);
  for (const auto& [name, text] : files)
    target[nb::str(name.c_str())] = nb::bytes(text.data(), text.size());
  return nb::cast(*module);
}

ExtraFiles to_extra_files(const nb::dict& extra) {
  ExtraFiles files;
  for (auto [name, contents] : extra) {
    files[nb::cast<std::string>(name)] =
        nb::isinstance<nb::bytes>(contents)
            ? std::string(nb::borrow<nb::bytes>(contents).c_str(),
                          nb::borrow<nb::bytes>(contents).size())
            : nb::cast<std::string>(contents);
  }
  return files;
}

/// Without the interpreter's lock: saving may compile, under the unit's.
template <class Program>
void save_file(Program& program, const std::string& path,
               const nb::dict& extra) {
  const ExtraFiles files = to_extra_files(extra);
  const GilRelease release;
  script::save(program, path, files);
}

/// To a Python file's write().
template <class Program>
void save_stream(Program& program, const nb::object& write,
                 const nb::dict& extra) {
  const ExtraFiles files = to_extra_files(extra);
  const GilRelease release;
  auto sink = [&write](std::string_view bytes) {
    const GilAcquire gil;
    while (!bytes.empty()) {
      const nb::object taken = write(nb::bytes(bytes.data(), bytes.size()));
      // A file without a buffer may take a part only, and says how much.
      size_t count = 0;
      if (PyLong_CheckExact(taken.ptr())) nb::try_cast(taken, count);
      bytes.remove_prefix(count ? std::min(count, bytes.size()) : bytes.size());
    }
  };
  script::save(program, sink, "archive", files);
}

/// An attribute, or a method that is bound to the object.
nb::object attribute_of(const ScriptObject& self, const std::string& name) {
  if (script::own_class_of(self.value)) return own_attribute(self.value, name);
  script::ClassType* cls = script::class_of(self.value);
  const int slot = cls ? cls->find_attribute(name) : -1;
  if (slot >= 0)
    return nb::steal(to_python(self.value.as_instance().slots[size_t(slot)]));
  script::Function* method = cls ? cls->find_method(name) : nullptr;
  if (!method) throw nb::attribute_error(name.c_str());
  auto call = [value = self.value, method](const nb::args& args,
                                           const nb::kwargs& kwargs) {
    std::vector<Value> arguments = {value};
    for (nb::handle a : args) arguments.push_back(to_value(a.ptr()));
    return call_function(*method, std::move(arguments), kwargs);
  };
  if (cls->is_property(name)) return call(nb::args(), nb::kwargs());
  return nb::cpp_function(std::move(call));
}

void set_attribute_of(const ScriptObject& self, const std::string& name,
                      nb::handle object) {
  if (script::own_class_of(self.value))
    return set_own_attribute(self.value, name, object);
  const script::ClassType* cls = script::class_of(self.value);
  const int slot = cls ? cls->find_attribute(name) : -1;
  if (slot < 0) throw nb::attribute_error(name.c_str());
  Value value = to_value(object.ptr());
  const auto& attribute = cls->attributes()[size_t(slot)];
  const GilRelease release;  // it may compile
  HOTARU_CHECK_AS(TypeError, script::convert_value(value, attribute.type),
                  "attribute '", name, "' is of type '",
                  attribute.type->annotation(), "'");
  self.value.as_instance().slots[size_t(slot)] = std::move(value);
}

/// Reduces one of a class that C++ defined, with a state; others have no form.
nb::object reduced(const ScriptObject& self) {
  const script::OwnClass* own = script::own_class_of(self.value);
  HOTARU_CHECK_AS(TypeError, own && own->find("__getstate__"),
                  "cannot pickle this ScriptObject");
  return nb::make_tuple(
      nb::module_::import_("hotaru._C").attr("_own_class_restore"),
      nb::make_tuple(own->name(), own_attribute(self.value, "__getstate__")()));
}

void init_module(nb::module_& m) {
  nb::class_<ScriptObject>(m, "ScriptObject",
                           "An instance of a TorchScript class.")
      .def("__getattr__", &attribute_of)
      .def("__reduce__", &reduced)
      .def("_type_name",
           [](const ScriptObject& self) {
             if (const auto* own = script::own_class_of(self.value))
               return own->name();
             const auto* cls = script::class_of(self.value);
             return cls ? cls->name() : std::string();
           })
      .def("__setattr__", &set_attribute_of, nb::arg("name"),
           nb::arg("value").none());
  nb::class_<ScriptMethod>(m, "ScriptMethod", "A method of a script module.")
      .def("__call__",
           [](nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
             const auto& method = *nb::inst_ptr<ScriptMethod>(self);
             return or_traced(self, args, kwargs, [&] {
               const Value result = call(method, args, kwargs);
               return to_python_typed(
                   result, method.module.method(method.name).result_type());
             });
           })
      .def_ro("module", &ScriptMethod::module)
      .def_ro("name", &ScriptMethod::name)
      .def_prop_ro("code",
                   [](const ScriptMethod& s) {
                     const GilRelease release;
                     return s.module.code(s.name);
                   })
      .def("_graph",
           [](const ScriptMethod& s, bool inlined) {
             return graph_as_tuples(s.module.method(s.name), inlined);
           })
      .def("_called_graphs",
           [](const ScriptMethod& s) {
             return called_graphs(s.module.method(s.name));
           })
      .def_prop_ro("schema", [](const ScriptMethod& s) {
        const GilRelease release;
        return s.module.method(s.name).schema();
      });
  nb::class_<Module>(m, "ScriptModule", "A loaded module.")
      .def("has_method", &Module::has_method)
      .def("method",
           [](const Module& self, const std::string& name) {
             self.method(name);  // an error now for unknown names
             return ScriptMethod{self, name};
           })
      .def("method_names", &Module::method_names)
      .def("hooks",
           [](const Module& self, bool before) {
             nb::list out;
             using Time = script::ClassType::HookTime;
             for (script::Function* hook :
                  self.type().hooks(before ? Time::kBefore : Time::kAfter))
               out.append(
                   ScriptFunction{self.type().unit().shared_from_this(), hook});
             return out;
           })
      .def("has_attribute", &Module::has_attribute)
      .def("attribute",
           [](const Module& self, const std::string& name) {
             return nb::steal(to_python(self.attribute(name)));
           })
      .def(
          "set_attribute",
          [](const Module& self, const std::string& name, nb::handle value) {
            count_module_change();
            Value converted = to_value(value.ptr());
            const GilRelease release;  // it may compile
            self.set_attribute(name, std::move(converted));
          },
          nb::arg("name"), nb::arg("value").none())
      .def(
          "attributes",
          [](const Module& self) {
            nb::list out;
            const auto& known = self.type().attributes();
            for (size_t i = 0; i < known.size(); ++i) {
              const Value& value = self.object()->slots[i];
              if (value.is_instance()) continue;
              out.append(
                  nb::make_tuple(known[i].name, nb::steal(to_python(value))));
            }
            return out;
          },
          "Names and values, without those of submodules and objects.")
      .def(
          "address",
          [](const Module& self) {
            return reinterpret_cast<uintptr_t>(self.object().get());
          },
          "The same for handles of one module.")
      .def("named_parameters",
           [](const Module& self, bool recurse) {
             return pairs(self.named_parameters(recurse));
           })
      .def("named_buffers",
           [](const Module& self, bool recurse) {
             return pairs(self.named_buffers(recurse));
           })
      .def("named_children",
           [](const Module& self) {
             nb::list out;
             for (const auto& [name, child] : self.named_children())
               out.append(nb::make_tuple(name, wrap_module(child)));
             return out;
           })
      .def("copy", &Module::copy)
      .def("train",
           [](const Module& self, bool on) {
             count_module_change();
             self.train(on);
           })
      .def(
          "to",
          [](const Module& self, nb::handle device, nb::handle dtype) {
            self.to(device.is_none() ? std::nullopt
                                     : std::optional(to_device(device.ptr())),
                    dtype.is_none() ? std::nullopt
                                    : std::optional(to_dtype(dtype.ptr())));
          },
          nb::arg("device").none(), nb::arg("dtype").none())
      .def("code",
           [](const Module& self, const std::string& name) {
             const GilRelease release;
             return self.code(name);
           })
      .def("code_with_constants",
           [](const Module& self, const std::string& name) {
             std::vector<Value> constants;
             std::string code;
             {
               const GilRelease release;
               code = self.code(name, &constants);
             }
             nb::list values;
             for (const Value& value : constants)
               values.append(nb::steal(to_python(value)));
             return nb::make_tuple(code, values);
           })
      .def(
          "freeze",
          [](const script::Module& module,
             const std::vector<std::string>& preserved) {
            return script::freeze(module, preserved);
          },
          nb::call_guard<GilRelease>())
      .def("save_file", &save_file<const Module>)
      .def("save_stream", &save_stream<const Module>)
      .def("same", [](const Module& a,
                      const Module& b) { return a.object() == b.object(); })
      .def("is_from",
           [](const Module& self, const SourceUnit& unit) {
             return &self.type().unit() == unit.unit.get();
           })
      .def_prop_ro("class_type",
                   [](const Module& self) {
                     return ScriptType{self.type().unit().shared_from_this(),
                                       self.type().type()};
                   })
      .def_prop_ro("script_class",
                   [](const Module& self) {
                     return ScriptClass{self.type().unit().shared_from_this(),
                                        &self.type()};
                   })
      .def_prop_ro("container",
                   [](const Module& self) {
                     using Container = script::ClassType::Container;
                     const Container kind = self.type().container();
                     return kind == Container::kNone   ? ""
                            : kind == Container::kList ? "list"
                                                       : "dict";
                   })
      .def_prop_ro("type_name", &Module::type_name);
  m.def("_script_load", [](const std::string& path, const nb::dict& extra) {
    return load_with(
        extra, [&](ExtraFiles* files) { return script::load(path, files); });
  });
  m.def("_script_load_bytes", [](const nb::bytes& data, const std::string& name,
                                 const nb::dict& extra) {
    return load_with(extra, [bytes = to_bytes(data), &name](ExtraFiles* files) {
      return script::load(bytes, name, files);
    });
  });
  m.def("_save_function_file",
        [](const ScriptFunction& f, const std::string& path,
           const nb::dict& extra) { save_file(*f.function, path, extra); });
  m.def("_save_function_stream",
        [](const ScriptFunction& f, const nb::object& write,
           const nb::dict& extra) { save_stream(*f.function, write, extra); });
  m.def("_set_script_module_class", [](nb::handle cls, nb::handle error) {
    module_class = cls.inc_ref().ptr();
    error_factory = error.inc_ref().ptr();
  });
}

/// Errors of programs become hotaru.jit.Error, which is also what the program
/// raised: `except ValueError` works as in the source.
void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const script::ExecutionError& e) {
      if (!error_factory) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
        return;
      }
      const nb::object error =
          nb::handle(error_factory)(e.what(), e.class_name(), e.message());
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())),
                      error.ptr());
    }
  });
}

}  // namespace

bool script_to_value(PyObject* object, Value* out) {
  if (const Module* module = module_of(object)) {
    *out = module->object();
    return true;
  }
  if (nb::isinstance<ScriptObject>(object)) {
    *out = nb::inst_ptr<ScriptObject>(object)->value;
    return true;
  }
  return container_value(object, out) || python_instance(object, out);
}

PyObject* script_to_python(const Value& value) {
  if (script::enum_of(value)) return enum_to_python(value).release().ptr();
  const auto* cls = script::class_of(value);
  if (!cls || !cls->is_module())
    return nb::cast(ScriptObject{value}).release().ptr();
  return wrap_module(Module(Ref<InstanceObject>(&value.as_instance())))
      .release()
      .ptr();
}

/// Where storages go, by a function of the name of the device that they were
/// saved on and a tensor of all their bytes, which gives such a tensor; None:
/// to that device.
io::Place place_by(nb::handle function) {
  if (function.is_none()) return io::place_as_saved;
  return [function](const std::string& saved_on, const Ref<Storage>& storage) {
    const Dims size{int64_t(storage->nbytes())}, stride{1};
    const nb::object bytes =
        nb::steal(wrap(make_tensor(storage, DType::kUInt8, size, stride, 0)));
    return tensor_of(function(saved_on, bytes).ptr()).storage();
  };
}

void init_script(nb::module_& m) {
  init_module(m);
  translate_errors();
  m.def(
      "_load_torch_file",
      [](const std::string& path, nb::handle place) {
        return nb::steal(to_python(io::load_torch_file(path, place_by(place))));
      },
      nb::arg("path"), nb::arg("place") = nb::none());
  m.def(
      "_load_torch_bytes",
      [](const nb::bytes& data, const std::string& name, nb::handle place) {
        return nb::steal(to_python(
            io::load_torch_bytes(to_bytes(data), name, place_by(place))));
      },
      nb::arg("data"), nb::arg("name"), nb::arg("place") = nb::none());
  m.def("_save_torch_file", [](const std::string& path, nb::handle value) {
    io::save_torch_file(path, to_value(value.ptr()));
  });
}

}  // namespace hotaru::python
