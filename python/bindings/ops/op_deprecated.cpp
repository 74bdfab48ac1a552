#include "bindings/ops/op_deprecated.h"

#include <atomic>
#include <string_view>
#include <vector>

#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

/// Numbers stood before the tensors behind self. Those of products were beta,
/// before self in functions, and perhaps alpha.
struct Form {
  std::string_view name;
  const char* number;    // the keyword that the first number is today
  const char* second;    // that of the second one; null: there is none
  const char* operands;  // the two, or the one, behind the numbers
  size_t tensors;
};
constexpr Form kForms[] = {
    {"add", "alpha", nullptr, "Tensor other", 1},
    {"sub", "alpha", nullptr, "Tensor other", 1},
    {"addcmul", "value", nullptr, "Tensor tensor1, Tensor tensor2", 2},
    {"addcdiv", "value", nullptr, "Tensor tensor1, Tensor tensor2", 2},
    {"addmm", "beta", "alpha", "Tensor mat1, Tensor mat2", 2},
    {"addmv", "beta", "alpha", "Tensor mat, Tensor vec", 2},
    {"addr", "beta", "alpha", "Tensor vec1, Tensor vec2", 2},
    {"addbmm", "beta", "alpha", "Tensor batch1, Tensor batch2", 2},
    {"baddbmm", "beta", "alpha", "Tensor batch1, Tensor batch2", 2}};

const Form* form_of(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  for (const Form& form : kForms)
    if (form.name == name) return &form;
  return nullptr;
}

/// Where a call's arguments stand.
struct Places {
  size_t self = 0, first = 1, second = 0;  // second: 0 if there is none
  size_t tensors = 2;
};

/// Tells whether the call has the form, and where what is in it.
bool fits(const Form& form, const Call& call, bool method, Places* at) {
  const size_t n = call.positional;
  if (n < 2 + form.tensors || n > 2 + form.tensors + (form.second != nullptr))
    return false;
  if (form.second && !method) std::swap(at->self, at->first);
  if (n > 2 + form.tensors) at->second = at->tensors++;
  const auto number = [&](size_t i, const char* keyword) {
    return !call.keyword(keyword) && !is_tensor(call.args[i]) &&
           is_number(call.args[i]);
  };
  if (!is_tensor(call.args[at->self]) || !number(at->first, form.number) ||
      (at->second && !number(at->second, form.second)))
    return false;
  for (size_t i = at->tensors; i < n; ++i)
    if (!is_tensor(call.args[i])) return false;
  return true;
}

/// The signature that was called, and today's.
std::string signatures(const Form& form, const Places& at, bool method,
                       const std::string& name) {
  const char* self = method ? "" : "Tensor input, ";
  const std::string first = concat("Number ", form.number, ", ");
  const std::string second =
      at.second ? concat("Number ", form.second, ", ") : "";
  const bool leads = at.first < at.self;
  std::string today = concat(", *, Number ", form.number, " = 1");
  if (form.second) today += concat(", Number ", form.second, " = 1");
  return concat(
      ":\n\t", name, "(", leads ? first : "", self, leads ? "" : first, second,
      form.operands, method ? ")" : ", *, Tensor out = None)",
      "\nConsider using one of the following signatures instead:\n\t", name,
      "(", self, form.operands, today, method ? ")" : ", Tensor out = None)");
}

/// Once for all of them, as in PyTorch.
void warn_of(const Form& form, const Places& at, bool method,
             const std::string& name) {
  static std::atomic<bool> given{false};
  if (given.exchange(true) && !warns_always()) return;
  warn(concat("This overload of ", name, " is deprecated",
              signatures(form, at, method, name)));
}

}  // namespace

PyObject* call_deprecated(PyObject* op, const Call& call, bool method,
                          const std::string& name) {
  const Form* form = form_of(name);
  Places at;
  if (!form || !fits(*form, call, method, &at)) return nullptr;
  warn_of(*form, at, method, name);
  std::vector<PyObject*> args{call.args[at.self]};
  args.insert(args.end(), call.args + at.tensors, call.args + call.positional);
  const size_t positional = args.size();
  nb::list names;
  for (size_t i = 0; i < call.keyword_count(); ++i) {
    names.append(nb::handle(call.keyword_name(i)));
    args.push_back(call.keyword_value(i));
  }
  names.append(form->number);
  args.push_back(call.args[at.first]);
  if (at.second) {
    names.append(form->second);
    args.push_back(call.args[at.second]);
  }
  PyObject* result =
      PyObject_Vectorcall(op, args.data(), positional, nb::tuple(names).ptr());
  if (!result) throw nb::python_error();
  return result;
}

}  // namespace hotaru::python
