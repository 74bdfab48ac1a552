#include "bindings/ops/op_result.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_map>

#include "bindings/errors.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

/// Each field on a line of its own, as PyTorch prints these.
PyObject* named_repr(PyObject* self) {
  return guarded([&] {
    std::string out = Py_TYPE(self)->tp_name;
    const nb::object fields = nb::handle(self).type().attr("__match_args__");
    for (size_t i = 0; i < nb::len(fields); ++i) {
      out += i ? ",\n" : "(\n";
      out +=
          nb::cast<std::string>(fields[i]) + "=" +
          nb::repr(nb::handle(PyStructSequence_GET_ITEM(self, Py_ssize_t(i))))
              .c_str();
    }
    return PyUnicode_FromString((out + ")").c_str());
  });
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
    type->tp_repr = named_repr;
  }
  PyObject* tuple = PyStructSequence_New(type);
  for (size_t i = 0; i < n; ++i)
    PyStructSequence_SET_ITEM(tuple, Py_ssize_t(i), items[i]);
  return tuple;
}

/// The caller's tensors, which got named results, as those are named.
PyObject* named_out(const Operator& op, PyObject* out, size_t n) {
  std::array<PyObject*, kMaxResults> items;
  for (size_t i = 0; i < n; ++i)
    items[i] = Py_NewRef(PySequence_Fast_GET_ITEM(out, Py_ssize_t(i)));
  return named_results(op, items.data(), n, /*out=*/true);
}

/// PyTorch warns of a resized `out=`, but for what only sizes or chance make.
void warn_of_resize(const Operator& op, const Tensor& out,
                    const Tensor& result) {
  const Schema& schema = op.schema();
  static constexpr std::string_view kRanges[] = {"arange", "fft_fftfreq",
                                                 "fft_rfftfreq"};
  const bool range = std::find(std::begin(kRanges), std::end(kRanges),
                               schema.name) != std::end(kRanges);
  if (range && out.numel() > 0 && out.numel() != result.numel())
    return warn(concat(
        "The number of elements in the out tensor of shape ",
        shape_text(out.sizes()), " is ", out.numel(),
        " which does not match the computed number of elements ",
        result.numel(),
        ". Note that this may occur as a result of rounding error. The out "
        "tensor will be resized to a tensor of shape (",
        result.numel(), ",)."));
  if (out.numel() == 0 || out.sizes() == result.sizes() ||
      schema.arguments.front().type.kind != ArgKind::kTensor ||
      schema.find("generator") >= 0)
    return;
  warn(
      concat("An output with one or more elements was resized since it had "
             "shape ",
             shape_text(out.sizes()),
             ", which does not match the required output shape ",
             shape_text(result.sizes()),
             ". This behavior is deprecated, and in a future PyTorch release "
             "outputs will not be resized unless they have zero elements. You "
             "can explicitly reuse an out tensor t by resizing it, inplace, "
             "to zero elements with t.resize_(0)."));
}

/// Some operators write into nothing but their result's dtype.
void check_out_dtype(const Operator& op, DType out, DType result) {
  static constexpr std::string_view kSame[] = {
      "neg", "negative", "floor", "ceil", "round",       "trunc",
      "fix", "sign",     "sgn",   "frac", "bitwise_not", "conj_physical"};
  const std::string_view name = op.schema().name;
  HOTARU_CHECK(
      std::find(std::begin(kSame), std::end(kSame), name) == std::end(kSame),
      "Found dtype ", scalar_type_name(out), " but expected ",
      scalar_type_name(result));
  HOTARU_CHECK(name != "nonzero",
               "nonzero: Expected out tensor to have scalar type Long but got "
               "scalar type",
               scalar_type_name(out));
  HOTARU_CHECK(name != "cummax" && name != "cummin" && name != "logcumsumexp",
               "expected scalar_type ", scalar_type_name(result), " but found ",
               scalar_type_name(out));
  HOTARU_CHECK(name != "hash_tensor",
               "Expected result to be of dtype uint64, but got ",
               scalar_type_name(out));
  HOTARU_CHECK(name != "_int_mm",
               "int_mm_out_cpu: Expected result dtype to be of type kInt but "
               "got ",
               cpp_type_name(out));
  // What is 0 or 1 fits into every dtype.
  if (name != "bernoulli") check_can_cast(result, out);
}

/// Whether the operator wrote its result there itself (ResultPlace).
bool is_there(const Tensor& out, const Tensor& result) {
  return result.storage() == out.storage() && !result.is_same(out) &&
         result.dtype() == out.dtype() &&
         result.storage_offset() == out.storage_offset() &&
         same(result.sizes(), out.sizes()) &&
         same(result.strides(), out.strides());
}

/// out=: the result is written into a tensor of the caller's, resized to fit.
void write_out(const Operator& op, const Tensor& out, const Tensor& result) {
  if (is_there(out, result)) return out.bump_version();
  if (result.storage() == out.storage() && !result.is_same(out))
    return write_out(op, out, clone(result));
  if (out.dtype() != result.dtype())
    check_out_dtype(op, out.dtype(), result.dtype());
  warn_of_resize(op, out, result);
  resize_(out, result.sizes());
  copy_(out, result);
}

/// What is written through out= has no history.
void check_plain(const Operator& op, const Tensor& t) {
  HOTARU_CHECK(!autograd::needs_grad(t), op.name(),
               "(): functions with out=... arguments don't support automatic "
               "differentiation, but one of the arguments requires grad.");
}

/// What an argument means for `out`: nothing, that it is read element by
/// element where it is written, or that it is read elsewhere, or that its call
/// is an error that comes behind the computation.
enum class Meets { kNowhere, kElements, kElsewhere };

Meets meets(const Value& argument, const Tensor& out) {
  if (argument.is_list()) {
    const auto& items = argument.as_list().items;
    const bool apart = std::ranges::all_of(items, [&](const Value& item) {
      return meets(item, out) == Meets::kNowhere;
    });
    return apart ? Meets::kNowhere : Meets::kElsewhere;
  }
  if (!argument.is_tensor() || argument.is_none()) return Meets::kNowhere;
  const Tensor& t = argument.tensor_ref();
  if (autograd::needs_grad(t)) return Meets::kElsewhere;
  if (t.storage() != out.storage()) return Meets::kNowhere;
  const bool equal =
      t.dtype() == out.dtype() && t.storage_offset() == out.storage_offset() &&
      same(t.sizes(), out.sizes()) && same(t.strides(), out.strides());
  return equal ? Meets::kElements : Meets::kElsewhere;
}

/// Writes results into as many tensors of the caller's.
void write_each(const Operator& op, std::span<const Value> results,
                PyObject* out) {
  const size_t n = results.size();
  const bool sequence = PyTuple_Check(out) || PyList_Check(out);
  bool fits = sequence && size_t(PySequence_Fast_GET_SIZE(out)) == n;
  for (size_t i = 0; fits && i < n; ++i)
    fits = is_tensor(PySequence_Fast_GET_ITEM(out, Py_ssize_t(i)));
  HOTARU_CHECK_AS(TypeError, fits, op.name(),
                  "(): argument 'out' must be a Tensor or a tuple "
                  "of ",
                  n, " Tensors, not ", Py_TYPE(out)->tp_name);
  for (size_t i = 0; i < n; ++i) {
    const Tensor& to = tensor_of(PySequence_Fast_GET_ITEM(out, Py_ssize_t(i)));
    check_plain(op, to);
    check_plain(op, results[i].as_tensor());
    write_out(op, to, results[i].as_tensor());
  }
}

}  // namespace

PyObject* convert_results(const Operator& op, Value* results) {
  const Schema& schema = op.schema();
  const size_t n = schema.results.size();
  if (n == 1) {
    if (schema.results[0].type.kind == ArgKind::kDType && results[0].is_int())
      return dtype_object(dtype_from_int(results[0].as_int())).release().ptr();
    if (schema.results[0].type.list &&
        schema.results[0].type.kind == ArgKind::kTensor && results[0].is_list())
      return to_python(Value::tuple(results[0].as_list().items));
    return to_python(results[0]);
  }
  if (n == 0) Py_RETURN_NONE;
  std::array<PyObject*, kMaxResults> items;
  for (size_t i = 0; i < n; ++i) items[i] = to_python(results[i]);
  if (!schema.results[0].name.empty())
    return named_results(op, items.data(), n, /*out=*/false);
  PyObject* tuple = PyTuple_New(Py_ssize_t(n));
  for (size_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(tuple, Py_ssize_t(i), items[i]);
  return tuple;
}

void check_without_tangents(const Operator& op, const Value* arguments,
                            size_t n, PyObject* out) {
  const auto dual = [](const Value& value) {
    return value.is_tensor() && autograd::passes_tangent(value.tensor_ref());
  };
  HOTARU_CHECK_AS(
      NotImplementedError,
      !std::any_of(arguments, arguments + n, dual) &&
          !(is_tensor(out) && autograd::passes_tangent(tensor_of(out))),
      "Trying to use forward AD with ", op.name(),
      "_out that does not support it because it is an out= function");
}

std::optional<ResultPlace::For> result_place(const Operator& op,
                                             const Value* arguments, size_t n,
                                             PyObject* out) {
  // Kernels write whole vectors: at addresses as of fresh memory. Those of
  // elements write anywhere.
  constexpr uintptr_t kAlignment = 64;
  if (!is_tensor(out) || op.schema().results.size() != 1) return {};
  const Tensor& to = tensor_of(out);
  if (to.numel() == 0 || to.storage()->pending() || autograd::needs_grad(to) ||
      repeats(to))
    return {};
  bool elements = reinterpret_cast<uintptr_t>(to.address()) % kAlignment != 0;
  for (size_t i = 0; i < n; ++i) {
    const Meets how = meets(arguments[i], to);
    if (how == Meets::kElsewhere) return {};
    elements |= how == Meets::kElements;
  }
  autograd::check_inplace(to);
  using enum ResultPlace::For;
  return elements ? kElements : kAny;
}

PyObject* write_results(const Operator& op, Value* results, PyObject* out) {
  const size_t n = op.schema().results.size();
  if (is_tensor(out) && n == 1) {
    check_plain(op, tensor_of(out));
    check_plain(op, results[0].as_tensor());
    write_out(op, tensor_of(out), results[0].as_tensor());
  } else if (n == 1 && results[0].is_list()) {  // PyTorch returns None
    write_each(op, results[0].as_list().items, out);
    Py_RETURN_NONE;
  } else {
    write_each(op, {results, n}, out);
    if (n > 1 && !op.schema().results[0].name.empty())
      return named_out(op, out, n);
  }
  return Py_NewRef(out);
}

}  // namespace hotaru::python
