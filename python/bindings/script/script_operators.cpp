// Operators of compiled programs on tensors that Python keeps: it calls them.
#include "bindings/gil.h"
#include "bindings/script/script_own.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/dtype.h"
#include "hotaru/ops/schema.h"
#include "hotaru/script/run/foreign.h"

namespace hotaru::python {

namespace nb = nanobind;

namespace {

/// The names of `hotaru._C.ops`; never freed.
PyObject* operators = nullptr;

bool is_default(const Value& value, const Argument& argument) {
  if (!argument.default_value || value.tag() != argument.default_value->tag())
    return false;
  const Value& other = *argument.default_value;
  switch (value.tag()) {
    case Value::Tag::kNone:
      return true;
    case Value::Tag::kBool:
      return value.as_bool() == other.as_bool();
    case Value::Tag::kInt:
      return value.as_int() == other.as_int();
    case Value::Tag::kDouble:
      return value.as_double() == other.as_double();
    default:
      return false;
  }
}

nb::object argument_object(const Value& value, const ArgType& type) {
  // Programs have the numbers of dtypes and layouts.
  if (value.is_int() && type.kind == ArgKind::kDType)
    return dtype_object(dtype_from_int(value.as_int()));
  if (value.is_int() && type.kind == ArgKind::kLayout)
    return layout_object(value.as_int());
  return nb::steal(to_python(value));
}

/// Calls what Python has by the operator's name, with what is no default. The
/// operators that programs alone have (prim::layout) tell of any tensor.
void call(const Operator& op, Value* arguments, Value* results) {
  const GilAcquire gil;
  const Schema& schema = op.schema();
  const nb::object function =
      nb::borrow(PyDict_GetItemString(operators, schema.name.c_str()));
  if (!function.is_valid()) return op.call(arguments, results);
  nb::list positional;
  nb::dict named;
  bool by_name = false;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    by_name = by_name || argument.keyword_only;
    if (is_default(arguments[i], argument)) {
      by_name = true;
      continue;
    }
    nb::object object = argument_object(arguments[i], argument.type);
    if (by_name)
      named[argument.name.c_str()] = object;
    else
      positional.append(object);
  }
  const nb::object result =
      function(*nb::tuple(positional), **nb::cast<nb::kwargs>(named));
  if (schema.results.size() == 1) {
    results[0] = to_value(result.ptr());
    return;
  }
  if (schema.results.empty()) return;
  const nb::tuple parts(result);
  HOTARU_CHECK(parts.size() == schema.results.size(), schema.name, " gave ",
               parts.size(), " results instead of ", schema.results.size());
  for (size_t i = 0; i < parts.size(); ++i)
    results[i] = to_value(parts[i].ptr());
}

/// A method of hotaru.Tensor, or a function of hotaru's or hotaru.sparse's.
nb::object named(const std::string& name) {
  const nb::module_ hotaru = nb::module_::import_("hotaru");
  if (name == "_sparse_mm") return hotaru.attr("sparse").attr("mm");
  const nb::object tensor = hotaru.attr("Tensor");
  if (nb::hasattr(tensor, name.c_str())) return tensor.attr(name.c_str());
  return hotaru.attr(name.c_str());
}

Value call_name(const std::string& name,
                const script::ForeignArguments& arguments) {
  const GilAcquire gil;
  nb::list positional;
  nb::dict keywords;
  for (const auto& [key, value] : arguments) {
    if (key.empty()) {
      positional.append(nb::steal(to_python(value)));
    } else if (!value.is_none()) {
      const ArgKind kind = key == "dtype"    ? ArgKind::kDType
                           : key == "layout" ? ArgKind::kLayout
                                             : ArgKind::kOther;
      keywords[key.c_str()] = argument_object(value, {.kind = kind});
    }
  }
  const nb::object found = named(name);
  // A property of tensors is read.
  const nb::object result =
      PyCallable_Check(found.ptr())
          ? found(*nb::tuple(positional), **nb::cast<nb::kwargs>(keywords))
          : nb::object(positional[0].attr(name.c_str()));
  return to_value(result.ptr());
}

}  // namespace

void init_script_operators(nb::module_& m) {
  operators = PyModule_GetDict(nb::object(m.attr("ops")).release().ptr());
  script::set_foreign_operator(&call);
  script::set_foreign_name(&call_name);
}

}  // namespace hotaru::python
