// TorchScript made of Python source: the native half of hotaru.jit.script.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "bindings/ops/op_call.h"
#include "hotaru/core/error.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/unit.h"

namespace hotaru::python {

/// Functions and classes that can call each other: those of one process, or of
/// a text that needs nothing of theirs. Python holds it.
struct SourceUnit {
  std::shared_ptr<script::CompilationUnit> unit;
  /// Meanings are remembered, so that the unit can settle.
  bool settles = false;
};

/// A function of such a unit, as Python calls it.
struct ScriptFunction {
  std::shared_ptr<script::CompilationUnit> unit;
  script::Function* function;
};

struct ScriptType {
  std::shared_ptr<script::CompilationUnit> unit;
  script::TypePtr type;
  /// Qualified, of classes, named tuples and Enum classes.
  std::string name() const { return type->annotation(); }
};

/// A class that is being made, or is ready.
struct ScriptClass {
  std::shared_ptr<script::CompilationUnit> unit;
  script::ClassType* cls;
};

/// Meaning of the tuple that hotaru.jit's resolver gives for a name: ("value",
/// 3), ("builtin", "relu"), ("function", f), ("unknown",) and so on. `unit`
/// gives meaning to ("language", "len"). Needs the interpreter's lock.
script::Meaning to_meaning(script::CompilationUnit& unit,
                           nanobind::handle tuple);

/// The value as Python's; named tuples, which the type tells, keep their names.
nanobind::object to_python_typed(const Value& value, script::TypePtr type);

/// The function's graph in tuples, (parameters, nodes): parameters as (number,
/// name, type), nodes as (kind, inputs' numbers, outputs, what else the kind
/// needs, blocks, (file, line, column, excerpt) or None, schema or None). Calls
/// as calls, or replaced by what they call. Throws ScriptError.
nanobind::tuple graph_as_tuples(script::Function& function, bool inlined);

/// The graphs of the functions whose calls stay when calls are replaced, as
/// they return early, with those that they call: by the number that such a
/// call has, (parameters, nodes) with calls replaced. Throws ScriptError.
nanobind::dict called_graphs(script::Function& function);

/// Calls the function with Python's arguments, without the interpreter's lock
/// while it runs. Throws Error for arguments that don't fit.
nanobind::object call_function(script::Function& function,
                               std::vector<Value> arguments,
                               const nanobind::kwargs& keywords);

/// f(), or what jit.trace makes of the call if the arguments are stand-ins,
/// which f() says by a TypeError.
template <class F>
nanobind::object or_traced(nanobind::handle callee, const nanobind::args& args,
                           const nanobind::kwargs& keywords, F&& f) {
  try {
    return f();
  } catch (const TypeError&) {
    nanobind::object traced = ask_trace(callee, args, keywords);
    if (traced.is_valid()) return traced;
    throw;
  }
}

/// An object of a Python class that was compiled: an instance with copies of
/// its attributes. False for other objects.
bool python_instance(PyObject* object, Value* out);

void init_script_source(nanobind::module_& m);
void init_script_class(nanobind::module_& m);
void init_script_enum(nanobind::module_& m);
void init_script_container(nanobind::module_& m);

/// The value of a list or dict that Python and compiled code share; false for
/// other objects.
bool container_value(PyObject* object, Value* out);

}  // namespace hotaru::python
