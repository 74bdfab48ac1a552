#include "bindings/ops/op_deprecated.h"

#include <atomic>
#include <string_view>
#include <vector>

#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

struct Form {
  std::string_view name;
  const char* number;    // the keyword that the number is today
  size_t tensors;        // behind the number
  const char* operands;  // in the text
};
constexpr Form kForms[] = {
    {"add", "alpha", 1, "Tensor other"},
    {"sub", "alpha", 1, "Tensor other"},
    {"addcmul", "value", 2, "Tensor tensor1, Tensor tensor2"},
    {"addcdiv", "value", 2, "Tensor tensor1, Tensor tensor2"}};

const Form* form_of(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  for (const Form& form : kForms)
    if (form.name == name) return &form;
  return nullptr;
}

bool fits(const Form& form, const Call& call) {
  if (call.positional != 2 + form.tensors || call.keyword(form.number))
    return false;
  if (!is_tensor(call.args[0]) || is_tensor(call.args[1]) ||
      !is_number(call.args[1]))
    return false;
  for (size_t i = 2; i < call.positional; ++i)
    if (!is_tensor(call.args[i])) return false;
  return true;
}

/// Once for all of them, as in PyTorch.
void warn_of(const Form& form, bool method, const std::string& name) {
  static std::atomic<bool> given{false};
  if (given.exchange(true) && !warns_always()) return;
  const char* self = method ? "(" : "(Tensor input, ";
  const char* out = method ? ")" : ", *, Tensor out = None)";
  const char* more = method ? ")" : ", Tensor out = None)";
  warn(concat("This overload of ", name, " is deprecated:\n\t", name, self,
              "Number ", form.number, ", ", form.operands, out,
              "\nConsider using one of the following signatures instead:\n\t",
              name, self, form.operands, ", *, Number ", form.number, " = 1",
              more));
}

}  // namespace

PyObject* call_deprecated(PyObject* op, const Call& call, bool method,
                          const std::string& name) {
  const Form* form = form_of(name);
  if (!form || !fits(*form, call)) return nullptr;
  warn_of(*form, method, name);
  std::vector<PyObject*> args{call.args[0]};
  args.insert(args.end(), call.args + 2, call.args + call.positional);
  const size_t positional = args.size();
  nb::list names;
  for (size_t i = 0; i < call.keyword_count(); ++i) {
    names.append(nb::handle(call.keyword_name(i)));
    args.push_back(call.keyword_value(i));
  }
  names.append(form->number);
  args.push_back(call.args[1]);
  PyObject* result =
      PyObject_Vectorcall(op, args.data(), positional, nb::tuple(names).ptr());
  if (!result) throw nb::python_error();
  return result;
}

}  // namespace hotaru::python
