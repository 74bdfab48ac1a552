#include "bindings/script/script_source.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <set>

#include "bindings/autograd/held.h"
#include "bindings/gil.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/error.h"
#include "hotaru/script/archive/source_printer.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/run/foreign.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/run/ranges.h"

namespace hotaru::python {
namespace {

using script::CompilationUnit;
using script::Function;
using script::Meaning;
using Kind = Meaning::Kind;

std::string text(nb::handle tuple, size_t i) {
  return nb::cast<std::string>(tuple[i]);
}

/// A function that compiled code leaves to Python.
struct PythonFunction : script::ForeignFunction {
  explicit PythonFunction(nb::object function) : held(std::move(function)) {}
  Value call(const std::vector<Value>& arguments) const override {
    const GilAcquire gil;
    nb::list items;
    for (const Value& argument : arguments)
      items.append(nb::steal(to_python(argument)));
    return to_value(held.get()(*nb::tuple(items)).ptr());
  }
  std::string operator_name() const override {
    const GilAcquire gil;
    const nb::object name = nb::getattr(held.get(), "_name", nb::none());
    if (!nb::isinstance<nb::str>(name)) return {};
    std::string out = nb::cast<std::string>(name);
    return out.find("::") == std::string::npos ? std::string() : out;
  }
  Held held;
};

/// Asks a Python function what names mean: resolve(None, name) for names of
/// the function's surroundings, resolve(object, name) for attributes. An
/// attribute `version` is that of the archive that the text is of. Called under
/// the unit's lock.
class PythonResolver : public script::ArchiveResolver {
 public:
  PythonResolver(const SourceUnit& unit, nb::object resolve)
      : ArchiveResolver(*unit.unit),
        version_(nb::hasattr(resolve, "version")
                     ? nb::cast<int64_t>(resolve.attr("version"))
                     : ArchiveResolver::version()),
        resolve_(std::move(resolve)),
        remembers_(unit.settles) {}

  Meaning name(std::string_view name) const override {
    return ask(nullptr, name);
  }
  Meaning attribute(const Meaning& parent,
                    std::string_view name) const override {
    if (!parent.host) return ArchiveResolver::attribute(parent, name);
    return ask(static_cast<const Held*>(parent.host.get()), name);
  }
  Meaning tensor_method(std::string_view name) const override {
    // A dot: no name of a program.
    return ask(nullptr, concat("Tensor.", name));
  }
  void settle() override {
    if (remembers_) resolve_.clear();
  }
  int64_t version() const override { return version_; }

 private:
  /// A name, or an attribute of an object, which is held by the meaning that
  /// gave it.
  Meaning ask(const Held* parent, std::string_view name) const {
    PyObject* object = parent ? parent->get().ptr() : nullptr;
    const auto known = known_.find({object, std::string(name)});
    if (known != known_.end()) return known->second;
    const GilAcquire gil;
    if (!resolve_.get().is_valid()) return {};
    Meaning meaning = to_meaning(
        unit_, resolve_.get()(parent ? parent->get() : nb::none(), name));
    if (remembers_) known_.emplace(std::pair(object, name), meaning);
    return meaning;
  }

  int64_t version_;
  Held resolve_;
  bool remembers_;
  mutable std::map<std::pair<PyObject*, std::string>, Meaning> known_;
};

/// Compiles the function and everything it calls, so that errors show now.
void compile_all(Function& function, std::set<const Function*>& seen);

void compile_calls(const script::Block& block,
                   std::set<const Function*>& seen) {
  for (const script::Node* node = block.first; node; node = node->next) {
    if (node->callee) compile_all(*node->callee, seen);
    for (const script::Block* inner : node->blocks) compile_calls(*inner, seen);
  }
}

void compile_all(Function& function, std::set<const Function*>& seen) {
  if (seen.insert(&function).second)
    compile_calls(function.graph().top(), seen);
}

std::map<std::string, Value, std::less<>> to_defaults(const nb::dict& dict) {
  std::map<std::string, Value, std::less<>> out;
  for (auto [name, value] : dict)
    out[nb::cast<std::string>(name)] = to_value(value.ptr());
  return out;
}

ScriptFunction define_function(const SourceUnit& self,
                               const std::string& source,
                               const std::string& file, int first_line,
                               const std::string& name, nb::object resolve,
                               const nb::dict& defaults,
                               const ScriptClass* owner, int indent) {
  auto resolver = std::make_unique<PythonResolver>(self, std::move(resolve));
  auto values = to_defaults(defaults);
  const GilRelease release;
  Function* function = self.unit->add_function(
      std::make_unique<script::Source>(file, source, first_line, indent),
      owner ? name : self.unit->unique_name(name), std::move(resolver),
      owner ? owner->cls : nullptr);
  function->set_defaults(std::move(values));
  return {self.unit, function};
}

std::vector<ScriptFunction> define_functions(
    const SourceUnit& self, const std::string& source, const std::string& file,
    const std::string& prefix, nb::object resolve, const ScriptClass* owner,
    int first_line, int indent) {
  auto resolver = std::make_unique<PythonResolver>(self, std::move(resolve));
  const GilRelease release;
  std::vector<ScriptFunction> out;
  for (Function* function : self.unit->add_functions(
           std::make_unique<script::Source>(file, source, first_line, indent),
           prefix, std::move(resolver), owner ? owner->cls : nullptr))
    out.push_back({self.unit, function});
  return out;
}

std::vector<Value> to_arguments(const nb::args& args) {
  std::vector<Value> out;
  out.reserve(args.size());
  for (nb::handle a : args) out.push_back(to_value(a.ptr()));
  return out;
}

/// Runs f() without the interpreter's lock: whoever compiles holds the unit's
/// lock and takes the interpreter's to ask what names mean.
template <class F>
auto unlocked(F&& f) {
  const GilRelease release;
  return f();
}

void init_functions(nb::module_& m) {
  nb::class_<ScriptFunction>(m, "ScriptFunction",
                             "A function compiled from its source.",
                             nb::dynamic_attr(), nb::is_weak_referenceable())
      .def("__call__",
           [](nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
             auto& function = *nb::inst_ptr<ScriptFunction>(self)->function;
             return or_traced(self, args, kwargs, [&] {
               return call_function(function, to_arguments(args), kwargs);
             });
           })
      .def("_compile",
           [](const ScriptFunction& self) {
             unlocked([&] {
               const std::lock_guard lock(self.unit->mutex());
               std::set<const Function*> seen;
               compile_all(*self.function, seen);
             });
           })
      .def("_is_from",
           [](const ScriptFunction& self, const SourceUnit& unit) {
             return self.unit == unit.unit;
           })
      .def_prop_ro("name",
                   [](const ScriptFunction& self) {
                     return std::string(self.function->short_name());
                   })
      .def_prop_ro(
          "qualified_name",
          [](const ScriptFunction& self) { return self.function->name(); })
      .def_prop_ro("code",
                   [](const ScriptFunction& self) {
                     return unlocked([&] {
                       const std::lock_guard lock(self.unit->mutex());
                       script::SourcePrinter printer(*self.unit);
                       return script::print_function(*self.function, printer,
                                                     0);
                     });
                   })
      .def("_graph",
           [](const ScriptFunction& self, bool inlined) {
             return graph_as_tuples(*self.function, inlined);
           })
      .def("_called_graphs",
           [](const ScriptFunction& self) {
             return called_graphs(*self.function);
           })
      .def_prop_ro("schema", [](const ScriptFunction& self) {
        return unlocked([&] { return self.function->schema(); });
      });
}

/// Tells the Python function of the ranges that programs name; None: nobody.
void set_range_listener(nb::object listener) {
  static Held& told = *new Held{nb::object()};
  const bool none = listener.is_none();
  told.reset(none ? nb::object() : std::move(listener));
  const script::RangeListener tell = [](const script::NamedRange& range) {
    const GilAcquire gil;
    if (const nb::object listening = told.get(); listening.is_valid())
      listening(range.name, range.start, range.arguments);
  };
  script::set_range_listener(none ? nullptr : tell);
}

/// Programs print where Python does.
void connect_output() {
  script::set_print_handler([](std::string_view text) {
    const GilAcquire gil;
    nb::module_::import_("sys").attr("stdout").attr("write")(text);
  });
}

}  // namespace

Meaning to_meaning(CompilationUnit& unit, nb::handle tuple) {
  const std::string kind = text(tuple, 0);
  if (kind == "unknown") return {};
  if (kind == "error") return {.kind = Kind::kError, .text = text(tuple, 1)};
  if (kind == "builtin")
    return {.kind = Kind::kBuiltin, .text = text(tuple, 1)};
  if (kind == "special")
    return {.kind = Kind::kSpecial, .text = text(tuple, 1)};
  if (kind == "generic")
    return {.kind = Kind::kGeneric, .text = text(tuple, 1)};
  if (kind == "language")
    return script::ArchiveResolver(unit).name(text(tuple, 1));
  if (kind == "value") {
    const nb::object value = tuple[1];
    return {.kind = Kind::kValue, .value = to_value(value.ptr())};
  }
  if (kind == "python")
    return {.kind = Kind::kValue,
            .value = Value::from_object(
                make_ref<PythonFunction>(nb::object(tuple[1]))),
            .type = script::TypeTable::any(),
            .result = nb::len(tuple) > 2 ? nb::cast<ScriptType&>(tuple[2]).type
                                         : nullptr};
  if (kind == "namespace")
    return {.kind = Kind::kNamespace,
            .text = text(tuple, 2),
            .host = std::make_shared<Held>(nb::object(tuple[1]))};
  if (kind == "function")
    return {.kind = Kind::kFunction,
            .function = nb::cast<ScriptFunction&>(tuple[1]).function};
  if (kind == "type")
    return {.kind = Kind::kType, .type = nb::cast<ScriptType&>(tuple[1]).type};
  if (kind == "overloads") {
    Meaning out = {.kind = Kind::kOverloads};
    for (const nb::handle function : nb::object(tuple[1]))
      out.overloads.push_back(nb::cast<ScriptFunction&>(function).function);
    return out;
  }
  HOTARU_CHECK(kind == "dispatch", "unknown kind of name '", kind, "'");
  auto dispatch = std::make_shared<script::Dispatch>();
  dispatch->argument = text(tuple, 1);
  dispatch->position = nb::cast<size_t>(tuple[2]);
  dispatch->fallback = nb::cast<bool>(tuple[3]);
  dispatch->if_true = to_meaning(unit, nb::object(tuple[4]));
  dispatch->if_false = to_meaning(unit, nb::object(tuple[5]));
  return {.kind = Kind::kDispatch, .dispatch = std::move(dispatch)};
}

namespace {

bool has_names(script::TypePtr type) {
  if (!type->fields.empty() && !type->name.empty()) return true;
  for (script::TypePtr item : type->items)
    if (has_names(item)) return true;
  return false;
}

nb::object typed_items(const std::vector<Value>& items, script::TypePtr type) {
  nb::list out;
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t of = type->kind == script::TypeKind::kList ? 0 : i;
    out.append(to_python_typed(items[i], type->items[of]));
  }
  return out;
}

}  // namespace

nb::object to_python_typed(const Value& value, script::TypePtr type) {
  if (type->items.empty() || !has_names(type))
    return nb::steal(to_python(value));
  if (type->kind == script::TypeKind::kOptional)
    return value.is_none() ? nb::none() : to_python_typed(value, type->item());
  if (type->kind == script::TypeKind::kList && value.is_list())
    return typed_items(value.as_list().items, type);
  if (type->kind == script::TypeKind::kDict && value.is_dict()) {
    nb::dict out;
    for (const auto& [key, item] : value.as_dict().items)
      out[nb::steal(to_python(key))] = to_python_typed(item, type->items[1]);
    return out;
  }
  if (type->kind != script::TypeKind::kTuple || !value.is_tuple())
    return nb::steal(to_python(value));
  const nb::tuple items(typed_items(value.as_tuple().items, type));
  if (type->name.empty()) return items;
  nb::list fields;
  for (const std::string& field : type->fields) fields.append(field);
  return nb::module_::import_("hotaru.jit._declared.tuples")
      .attr("rebuild")(type->name, nb::tuple(fields), items);
}

nb::object call_function(Function& function, std::vector<Value> arguments,
                         const nb::kwargs& keywords) {
  std::vector<std::pair<std::string, Value>> named;
  for (auto [name, value] : keywords)
    named.emplace_back(nb::cast<std::string>(name), to_value(value.ptr()));
  Value result;
  {
    const GilRelease release;
    std::vector<Value> bound;
    try {
      bound = function.bind(std::move(arguments), std::move(named));
    } catch (const TypeError& e) {
      fail(e.what());  // RuntimeError, as PyTorch has it
    }
    result = script::run(function.code(), std::move(bound));
  }
  return to_python_typed(result, function.result_type());
}

void init_script_source(nb::module_& m) {
  connect_output();
  m.def("_set_range_listener", &set_range_listener, nb::arg("listener").none());
  init_functions(m);
  nb::class_<ScriptType>(m, "ScriptType", "A type of TorchScript.")
      .def("__str__",
           [](const ScriptType& self) { return self.type->annotation(); })
      .def_prop_ro("name", &ScriptType::name)
      .def_prop_ro(
          "ir",
          [](const ScriptType& self) { return script::ir_text(self.type); })
      .def_prop_ro("is_interface",
                   [](const ScriptType& self) {
                     return self.type->kind == script::TypeKind::kClass &&
                            self.type->cls->is_interface();
                   })
      .def("__eq__", [](const ScriptType& a, const ScriptType& b) {
        return a.type == b.type;
      });
  nb::class_<SourceUnit>(m, "ScriptUnit",
                         "Functions and classes compiled from Python.")
      .def(nb::new_([](bool settles) {
             return SourceUnit{CompilationUnit::create(), settles};
           }),
           nb::arg("settles") = false)
      .def("find_type",
           [](const SourceUnit& self, std::string_view name) {
             return unlocked([&] {
               return ScriptType{self.unit, self.unit->find_type(name)};
             });
           })
      .def("settle",
           [](const SourceUnit& self) {
             unlocked([&] { self.unit->settle_names(); });
           })
      .def("__enter__",
           [](const SourceUnit& self) {
             unlocked([&] { self.unit->mutex().lock(); });
           })
      .def("__exit__", [](const SourceUnit& self,
                          const nb::args&) { self.unit->mutex().unlock(); })
      .def("define_function", &define_function, nb::arg("source"),
           nb::arg("file"), nb::arg("first_line"), nb::arg("name"),
           nb::arg("resolve"), nb::arg("defaults"),
           nb::arg("owner").none() = nb::none(), nb::arg("indent") = 0)
      .def("define_functions", &define_functions, nb::arg("source"),
           nb::arg("file"), nb::arg("prefix"), nb::arg("resolve"),
           nb::arg("owner").none() = nb::none(), nb::arg("first_line") = 1,
           nb::arg("indent") = 0)
      .def("parse_type",
           [](const SourceUnit& self, const std::string& text,
              const std::string& file, nb::object resolve) {
             const PythonResolver resolver(self, std::move(resolve));
             return unlocked([&] {
               return ScriptType{
                   self.unit,
                   self.unit->parse_type(
                       std::make_unique<script::Source>(file, text), resolver)};
             });
           })
      .def(
          "type_of",
          [](const SourceUnit& self, nb::handle object) {
            const Value value = to_value(object.ptr());
            script::TypePtr type = unlocked([&] {
              const std::lock_guard lock(self.unit->mutex());
              return script::type_of(self.unit->types(), value);
            });
            return type ? nb::cast(ScriptType{self.unit, type}) : nb::none();
          },
          nb::arg("value").none())
      .def("optional",
           [](const SourceUnit& self, const ScriptType& item) {
             return unlocked([&] {
               const std::lock_guard lock(self.unit->mutex());
               return ScriptType{self.unit,
                                 self.unit->types().optional(item.type)};
             });
           })
      .def("named_tuple", [](const SourceUnit& self, const std::string& name,
                             const std::vector<std::string>& fields,
                             const std::vector<ScriptType>& types,
                             const nb::list& defaults) {
        std::vector<script::TypePtr> items;
        for (const ScriptType& type : types) items.push_back(type.type);
        std::vector<Value> values;
        for (nb::handle value : defaults)
          values.push_back(to_value(value.ptr()));
        return unlocked([&] {
          const std::lock_guard lock(self.unit->mutex());
          return ScriptType{self.unit, self.unit->types().named_tuple(
                                           self.unit->unique_name(name), fields,
                                           items, std::move(values))};
        });
      });
  m.def("_script_has_operator", [](std::string_view name) {
    return !script::find_builtins(name).empty() ||
           !Registry::instance().find(name).empty();
  });
}

}  // namespace hotaru::python
