#include "bindings/ops/op_error.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <span>

#include "bindings/ops/op_text.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

/// A signature that errors list.
struct Shown {
  const Schema* schema;
  std::vector<Option> options;
};

size_t required(const std::vector<Option>& options) {
  return size_t(std::count_if(options.begin(), options.end(),
                              [](const Option& o) { return o.required; }));
}

size_t positional(const std::vector<Option>& options) {
  return size_t(std::count_if(options.begin(), options.end(),
                              [](const Option& o) { return !o.keyword_only; }));
}

std::string too_many(const std::vector<Option>& options, size_t given) {
  const size_t most = positional(options), least = required(options);
  if (least != most)
    return concat("takes from ", least, " to ", most,
                  " positional arguments but ", given, " were given");
  return concat("takes ", most, " positional argument", most == 1 ? "" : "s",
                " but ", given, given == 1 ? " was given" : " were given");
}

std::string missing(const std::vector<Option>& options, size_t from) {
  size_t count = 0;
  std::string names;
  for (size_t i = from; i < options.size(); ++i) {
    if (!options[i].required) continue;
    names += concat(count++ ? ", " : "", '"', options[i].name, '"');
  }
  // PyTorch's plural.
  return concat("missing ", count, " required positional argument",
                count > 1 ? "" : "s", ": ", names);
}

/// The first of several elements that is not of the list's type, or -1.
int64_t wrong_element(std::span<PyObject* const> elements, ArgType type) {
  type.list = false;
  Value ignored;
  for (size_t i = 0; i < elements.size(); ++i)
    if (!to_element(elements[i], i, type, &ignored)) return int64_t(i);
  return -1;
}

std::string unpack_error(const Option& option, int64_t at, PyObject* element) {
  return concat("argument '", option.name,
                "' failed to unpack the object at pos ", at + 1,
                " with error \"type must be ", option.type, ",but got ",
                type_name(element), '"');
}

/// Fault of the given argument `index`, which is not of its type.
std::string wrong_type(const std::string& name, const Argument& a,
                       const Option& option, PyObject* object, bool keyword,
                       size_t index) {
  std::string where =
      concat(name, "(): argument '", option.name,
             keyword ? "'" : concat("' (position ", index + 1, ")"),
             " must be ", option.type);
  if (a.type.list && (PyTuple_Check(object) || PyList_Check(object))) {
    // A tuple of its own: elements may run code that changes the list.
    const nb::object tuple = nb::steal(PySequence_Tuple(object));
    if (!tuple.is_valid()) throw nb::python_error();
    const std::span<PyObject* const> elements(tuple_items(tuple.ptr()),
                                              size_t(tuple_size(tuple.ptr())));
    const int64_t at = wrong_element(elements, a.type);
    if (at >= 0 && a.type.kind == ArgKind::kTensor)
      return concat("expected Tensor as element ", at, " in argument ", index,
                    ", but got ", type_name(elements[size_t(at)]));
    if (at > 0)
      return name + "(): " + unpack_error(option, at, elements[size_t(at)]);
    if (at == 0)
      return concat(where, ", but found element of type ",
                    type_name(elements[0]), " at pos 0");
  }
  return where + ", not " + type_name(object);
}

/// True if all positional arguments are sizes, given one by one: f(2, 3) for
/// f((2, 3)).
bool are_sizes(const Schema& schema, const std::vector<Option>& options,
               std::span<PyObject* const> all) {
  if (all.empty() || positional(options) != 1) return false;
  for (const Argument& a : schema.arguments)
    if (a.type.list && a.type.kind == ArgKind::kInt && !a.keyword_only)
      return PyLong_Check(all[0]) && wrong_element(all, a.type) < 0;
  return false;
}

/// Fault in the arguments of an operator of a single signature.
std::string single_error(const Shown& shown, const Call& call, bool method,
                         const std::string& name) {
  const auto& [schema, options] = shown;
  const size_t first = method ? 1 : 0, given = call.positional - first;
  if (method && schema->arguments.size() == 1)
    return call.keyword_count()
               ? concat("TensorBase.", name, "() takes no keyword arguments")
               : concat("TensorBase.", name, "() takes no arguments (", given,
                        " given)");
  const std::span<PyObject* const> all(call.args + first, given);
  const bool sizes = are_sizes(*schema, options, all);
  if (given > positional(options) && !sizes) {
    // f(2, 's') for f((2, 's'))
    if (positional(options) == 1 && PyLong_Check(all[0]))
      for (const Argument& a : schema->arguments)
        if (a.type.list && a.type.kind == ArgKind::kInt && !a.keyword_only)
          if (const int64_t at = wrong_element(all, a.type); at > 0)
            return name +
                   "(): " + unpack_error(options[0], at, all[size_t(at)]);
    return concat(name, "() ", too_many(options, given));
  }
  size_t at = 0;
  for (const Argument& a : schema->arguments) {
    if (method && a.name == "self") continue;
    const Option& option = options[at++];
    if (sizes && !a.keyword_only) continue;
    PyObject* object = nullptr;
    const bool keyword = at > given || a.keyword_only;
    if (!keyword) object = call.args[first + at - 1];
    for (size_t k = 0; keyword && k < call.keyword_count(); ++k)
      if (same_name(a.name, call.keyword_name(k)))
        object = call.keyword_value(k);
    Value ignored;
    if (!object && option.required)
      return concat(name, "() ", missing(options, at - 1));
    if (!object || stands_for_default(object, a) ||
        to_value(object, a.type, &ignored) ||
        (at == 1 && !method && takes_numbers(schema->name) &&
         is_number(object)))
      continue;
    return wrong_type(name, a, option, object, keyword, at - 1);
  }
  for (size_t k = 0; k < call.keyword_count(); ++k)
    if (schema->arguments.end() ==
        std::find_if(schema->arguments.begin(), schema->arguments.end(),
                     [&](const Argument& a) {
                       return same_name(a.name, call.keyword_name(k));
                     }))
      return concat(name, "() got an unexpected keyword argument '",
                    utf8(call.keyword_name(k)), "'");
  for (size_t k = 0; k < call.keyword_count(); ++k)
    for (size_t i = 0; i < given; ++i)
      if (same_name(options[i].name, call.keyword_name(k)))
        return concat(name, "() got multiple values for argument '",
                      options[i].name, "'");
  return name + "(): invalid arguments";
}

/// PyTorch's order: by the last parameter in which they differ, lists and
/// tensors before numbers, and those with fewer first.
bool comes_before(const Shown& a, const Shown& b) {
  const auto &x = a.schema->arguments, &y = b.schema->arguments;
  const auto rank = [](const Argument& argument) {
    const ArgKind kind = argument.type.kind;
    if (kind == ArgKind::kDType) return 0;
    if (argument.type.list) return 1;
    if (kind == ArgKind::kTensor) return 2;
    return kind == ArgKind::kInt && argument.default_value ? 0 : 3;
  };
  for (size_t i = std::min(x.size(), y.size()); i-- > 0;)
    if (!x[i].keyword_only && !y[i].keyword_only && rank(x[i]) != rank(y[i]))
      return rank(x[i]) < rank(y[i]);
  return positional(a.options) < positional(b.options);
}

}  // namespace

void no_match(const std::vector<Signature>& signatures, const Call& call,
              bool method, const std::string& name) {
  HOTARU_CHECK_AS(TypeError, !method || call.positional > 0,
                  "unbound method TensorBase.", name, "() needs an argument");
  const size_t given =
      call.positional - (method ? 1 : 0) + call.keyword_count();
  std::vector<Shown> shown;
  for (const Signature& s : signatures)
    if (s.shown() || signatures.size() == 1)
      shown.push_back({&s.schema(), options_of(s.schema(), method)});
  std::stable_sort(shown.begin(), shown.end(), comes_before);
  const Shown* plausible = nullptr;
  size_t count = 0;
  for (const Shown& s : shown)
    if (shown.size() == 1 ||
        (given >= required(s.options) && given <= s.options.size())) {
      plausible = &s;
      ++count;
    }
  if (count == 1) fail<TypeError>(single_error(*plausible, call, method, name));
  std::string text = name +
                     "() received an invalid combination of arguments - got (" +
                     given_text(call, method) + "), but expected one of:\n";
  for (const Shown& s : shown)
    text += " * " + signature_text(s.options) + "\n" +
            mismatch_text(s.options, call, method);
  fail<TypeError>(text);
}

}  // namespace hotaru::python
