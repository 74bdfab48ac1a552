#include "bindings/ops/op_result.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_map>

#include "bindings/errors.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/out.h"

namespace hotaru::python {
namespace {

/// Each field on a line of its own, as PyTorch prints these.
PyObject* named_repr(PyObject* self, PyObject*) {
  return guarded([&] {
    std::string out = class_name(self);
    const nb::object fields = nb::handle(self).type().attr("__match_args__");
    for (size_t i = 0; i < nb::len(fields); ++i) {
      out += i ? ",\n" : "(\n";
      out += nb::cast<std::string>(fields[i]) + "=" +
             nb::repr(nb::handle(tuple_item(self, Py_ssize_t(i)))).c_str();
    }
    return PyUnicode_FromString((out + ")").c_str());
  });
}

PyMethodDef repr_method{"__repr__", named_repr, METH_NOARGS, nullptr};

void set_repr(PyTypeObject* type) {
  const nb::object repr = nb::steal(PyDescr_NewMethod(type, &repr_method));
  if (!repr.is_valid() ||
      PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), "__repr__",
                             repr.ptr()) != 0)
    throw nb::python_error();
}

/// A named tuple for results with names, of the type torch.return_types.max, or
/// max_out if they are the caller's tensors. Takes the references of `items`.
PyObject* named_results(const Operator& op, PyObject** items, size_t n,
                        bool out) {
  static auto* types =
      new std::unordered_map<const Operator*, std::array<PyTypeObject*, 2>>;
  PyTypeObject*& type = (*types)[&op][out];
  const Schema& schema = op.schema();
  if (!type) {
    // Kept for the process's life, with the texts it points to.
    auto* names = new std::vector<std::string>{
        "torch.return_types." + schema.name + (out ? "_out" : "")};
    for (const Argument& r : schema.results) names->push_back(r.name);
    auto* fields = new std::vector<PyStructSequence_Field>;
    for (size_t i = 1; i < names->size(); ++i)
      fields->push_back({(*names)[i].c_str(), ""});
    fields->push_back({nullptr, nullptr});
    auto* desc = new PyStructSequence_Desc{(*names)[0].c_str(), "",
                                           fields->data(), int(n)};
    type = PyStructSequence_NewType(desc);
    if (!type) return nullptr;
    set_repr(type);
  }
  PyObject* tuple = PyStructSequence_New(type);
  for (size_t i = 0; i < n; ++i)
    PyStructSequence_SetItem(tuple, Py_ssize_t(i), items[i]);
  return tuple;
}

/// The caller's tensors, which got named results, as those are named.
PyObject* named_out(const Operator& op, PyObject* out, size_t n) {
  std::array<PyObject*, kMaxResults> items;
  for (size_t i = 0; i < n; ++i)
    items[i] = Py_NewRef(sequence_item(out, Py_ssize_t(i)));
  return named_results(op, items.data(), n, /*out=*/true);
}

/// Writes results into as many tensors of the caller's.
void write_each(const Operator& op, std::span<const Value> results,
                PyObject* out) {
  const size_t n = results.size();
  const bool sequence = PyTuple_Check(out) || PyList_Check(out);
  bool fits = sequence && size_t(sequence_size(out)) == n;
  for (size_t i = 0; fits && i < n; ++i)
    fits = is_tensor(sequence_item(out, Py_ssize_t(i)));
  HOTARU_CHECK_AS(TypeError, fits, op.name(),
                  "(): argument 'out' must be a Tensor or a tuple "
                  "of ",
                  n, " Tensors, not ", class_name(out));
  for (size_t i = 0; i < n; ++i) {
    const Tensor& to = tensor_of(sequence_item(out, Py_ssize_t(i)));
    write_out(op, to, results[i].as_tensor());
  }
}

/// Tensors that a list of them holds come as a tuple.
PyObject* one_result(const Schema& schema, const Value* results, size_t i) {
  const auto& type = schema.results[i].type;
  if (type.list && type.kind == ArgKind::kTensor && results[i].is_list())
    return to_python(Value::tuple(results[i].as_list().items));
  return to_python(results[i]);
}

}  // namespace

PyObject* convert_results(const Operator& op, Value* results) {
  const Schema& schema = op.schema();
  const size_t n = schema.results.size();
  if (n == 1) {
    if (schema.results[0].type.kind == ArgKind::kDType && results[0].is_int())
      return dtype_object(dtype_from_int(results[0].as_int())).release().ptr();
    return one_result(schema, results, 0);
  }
  if (n == 0) Py_RETURN_NONE;
  std::array<PyObject*, kMaxResults> items;
  for (size_t i = 0; i < n; ++i) items[i] = one_result(schema, results, i);
  if (!schema.results[0].name.empty())
    return named_results(op, items.data(), n, /*out=*/false);
  PyObject* tuple = PyTuple_New(Py_ssize_t(n));
  for (size_t i = 0; i < n; ++i) put_tuple_item(tuple, Py_ssize_t(i), items[i]);
  return tuple;
}

PyObject* write_results(const Operator& op, Value* results, PyObject* out) {
  const size_t n = op.schema().results.size();
  if (is_tensor(out) && n == 1) {
    write_out(op, tensor_of(out), results[0].as_tensor());
  } else if (n == 1 && results[0].is_list()) {  // PyTorch returns None
    write_each(op, results[0].as_list().items, out);
    Py_RETURN_NONE;
  } else {
    HOTARU_CHECK_AS(TypeError, n > 1, op.name(),
                    "(): argument 'out' must be Tensor, not ", class_name(out));
    write_each(op, {results, n}, out);
    if (n > 1 && !op.schema().results[0].name.empty())
      return named_out(op, out, n);
  }
  return Py_NewRef(out);
}

}  // namespace hotaru::python
