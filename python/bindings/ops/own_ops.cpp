#include "bindings/ops/own_ops.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings/gil.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/own/own_operator.h"

namespace hotaru::python {

namespace nb = nanobind;

namespace {

own::Key key_of(const std::string& name) {
  const auto key = own::find_key(name);
  HOTARU_CHECK(key, "no call reaches kernels for the dispatch key ", name);
  return *key;
}

const own::OwnOperator& operator_of(const std::string& qualified_name) {
  const own::OwnOperator* op = own::find(qualified_name);
  HOTARU_CHECK(op, "operator ", qualified_name, " does not exist");
  return *op;
}

/// A function of Python's as a kernel. It outlives its registration, with
/// nothing in it: see OwnOperator.
class PythonKernel {
 public:
  explicit PythonKernel(nb::object function)
      : function_(function.release().ptr()) {}

  /// With the interpreter's lock.
  void clear() { Py_CLEAR(function_); }

  void operator()(std::span<Value> arguments, Value* results) const {
    const GilAcquire gil;
    HOTARU_CHECK(function_, "a kernel was taken away while it was called");
    const nb::object function = nb::borrow(function_);
    nb::list given;
    for (const Value& value : arguments)
      given.append(nb::steal(to_python(value)));
    const nb::object result = function(*nb::tuple(given));
    if (result.is_none()) return;
    if (!nb::isinstance<nb::tuple>(result)) {
      results[0] = to_value(result.ptr());
      return;
    }
    size_t i = 0;
    for (nb::handle item : nb::borrow<nb::tuple>(result))
      results[i++] = to_value(item.ptr());
  }

 private:
  PyObject* function_;
};

nb::object implement(const std::string& qualified_name, const std::string& key,
                     nb::object function) {
  const auto kernel = std::make_shared<PythonKernel>(std::move(function));
  own::Undo undo = own::implement(
      qualified_name, key_of(key),
      [kernel](std::span<Value> in, Value* out) { (*kernel)(in, out); });
  return nb::cpp_function([undo = std::move(undo), kernel] {
    undo();
    kernel->clear();
  });
}

nb::object implement_fallthrough(const std::string& qualified_name,
                                 const std::string& key) {
  return nb::cpp_function(own::implement(qualified_name, key_of(key), {}));
}

}  // namespace

void init_own_ops(nb::module_& m) {
  m.def("_own_operators", [] {
    std::vector<std::string> names;
    for (const own::OwnOperator* op : own::all())
      names.push_back(op->qualified_name());
    return names;
  });
  m.def("_own_exists", [](const std::string& qualified_name) {
    return own::find(qualified_name) != nullptr;
  });
  m.def("_own_source", [](const std::string& qualified_name) {
    return operator_of(qualified_name).source();
  });
  m.def("_own_schema", [](const std::string& qualified_name) {
    const own::OwnOperator& op = operator_of(qualified_name);
    const std::string text = op.schema().str();
    return op.name() + text.substr(op.schema().name.size());
  });
  m.def("_own_keys", [](const std::string& qualified_name) {
    const own::OwnOperator& op = operator_of(qualified_name);
    std::vector<std::string> names;
    for (size_t i = 0; i < own::kKeys; ++i)
      if (op.kernel(own::Key(i)))
        names.emplace_back(own::key_name(own::Key(i)));
    return names;
  });
  m.def("_own_reaches",
        [](const std::string& key) { return own::find_key(key).has_value(); });
  m.def("_own_implement", &implement);
  m.def("_own_fallthrough", &implement_fallthrough);
  m.def("_layers_skipped", [] {
    return std::tuple(own::skipped().autograd, own::skipped().inplace);
  });
  m.def("_skip_layers", [](bool autograd, bool inplace) {
    own::skipped() = {autograd, inplace};
  });
  m.def("_warns_without_derivative", &own::warns_without_derivative);
  m.def("_set_warns_without_derivative", &own::set_warns_without_derivative);
}

}  // namespace hotaru::python
