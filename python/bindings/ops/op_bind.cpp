#include "bindings/ops/op_bind.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings/stable_abi.h"
#include "bindings/tensor/buffer.h"
#include "bindings/tensor/default_device.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operands.h"

namespace hotaru::python {
namespace {

/// The int beyond int64 that the call at hand has been given, for settle().
/// Calls are bound under the interpreter's lock.
const PyObject* beyond_int64 = nullptr;

struct Alias {
  const char *parameter, *alias;
};
constexpr Alias kAliases[] = {{"self", "input"},
                              {"dim", "axis"},
                              {"keepdim", "keepdims"},
                              {"self", "x"},
                              {"other", "x2"}};

/// Keywords that the call itself handles, or that ask for the default: of
/// factories what they make of the result.
bool ignorable(const Schema& schema, PyObject* name, PyObject* value) {
  const auto is = [name](const char* text) {
    return PyUnicode_CompareWithASCIIString(name, text) == 0;
  };
  if (is("out")) return true;
  return schema.find("device") >= 0 &&
         (is("requires_grad") || (is("pin_memory") && PyBool_Check(value)));
}

/// Position of the list if f(2, 3) may stand for f((2, 3)), else -1: one list
/// of any length, and nothing beside it is positional.
int varargs_position(const Schema& schema, int self) {
  int found = -1;
  for (int i = 0; i < int(schema.arguments.size()); ++i) {
    const Argument& a = schema.arguments[size_t(i)];
    const bool tensor = a.type.kind == ArgKind::kTensor && !a.type.list;
    if (i == self || a.keyword_only || (self < 0 && tensor)) continue;
    if (found >= 0 || !a.type.list || a.type.kind != ArgKind::kInt) return -1;
    found = i;
  }
  return found;
}

bool starts_integers(PyObject* first) {
  if (PyLong_Check(first) || is_tensor(first)) return true;
  if (!PyIndex_Check(first)) return false;
  if (!PySequence_Check(first)) return true;
  // An array without dimensions has no length: it is a number.
  if (!is_array(first) || PySequence_Size(first) >= 0) return false;
  PyErr_Clear();
  return true;
}

}  // namespace

PyObject* Call::keyword(const char* name) const {
  for (size_t k = 0; k < keyword_count(); ++k)
    if (PyUnicode_CompareWithASCIIString(keyword_name(k), name) == 0)
      return keyword_value(k);
  return nullptr;
}

bool stands_for_default(PyObject* object, const Argument& argument) {
  const auto& value = argument.default_value;
  return object == Py_None && value && value->tag() == Value::Tag::kList &&
         value->as_list().items.empty();
}

bool same_name(const std::string& parameter, PyObject* keyword) {
  const char* given = text_data(keyword);
  if (!given) {
    PyErr_Clear();  // a lone surrogate names nothing
    return false;
  }
  if (parameter == given) return true;
  for (const Alias& a : kAliases)
    if (parameter == a.parameter && std::strcmp(given, a.alias) == 0)
      return true;
  return false;
}

namespace {

/// True if the operator, or what it is the in-place form of, is among `names`.
template <size_t N>
bool is_among(std::string_view name, const std::string_view (&names)[N]) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return std::find(names, names + N, name) != names + N;
}

/// PyTorch's error where elements of this dtype can't be such a number.
void refuse_beyond_int64(DType dtype) {
  check_converts(!is_integral(dtype, false) || dtype == DType::kUInt64,
                 "int64_t");
}

/// Which tensor may be a number, or -1.
int number_place(std::string_view name, bool method) {
  if (name == "copy_") return 1;
  return !method && takes_numbers(name) ? 0 : -1;
}

}  // namespace

bool takes_numbers(std::string_view name) {
  return is_among(name, {"add", "sub", "subtract", "mul", "multiply", "div",
                         "divide", "true_divide", "floor_divide"});
}

Work work_of(std::string_view name) {
  if (is_among(name, {"lstm", "gru", "rnn_tanh", "rnn_relu"}))
    return Work::kSequences;
  return is_among(name,
                  {"conv1d", "conv2d", "conv3d", "convolution", "_convolution",
                   "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
                   "linear", "mm", "matmul", "__matmul__", "bmm", "addmm",
                   "baddbmm", "addbmm", "scaled_dot_product_attention"})
             ? Work::kProducts
             : Work::kElements;
}

Signature::Signature(const Operator& op, bool method)
    : op_(&op), schema_(&op.schema()), work_(work_of(schema_->name)) {
  HOTARU_CHECK(arguments() <= kMaxArguments, op.name(),
               ": operators of more than ", kMaxArguments,
               " arguments can't be called from Python");
  number_at_ = number_place(op.name(), method);
  if (method) self_ = std::max(schema_->find("self"), 0);
  varargs_ = varargs_position(*schema_, self_);
  const bool from_tensor = std::any_of(
      schema_->arguments.begin(), schema_->arguments.end(),
      [](const Argument& a) { return a.type.kind == ArgKind::kTensor; });
  if (!from_tensor) device_ = schema_->find("device");
}

bool Signature::shown() const {
  const ArgType& first = schema_->arguments.front().type;
  if (self_ >= 0 && first.kind != ArgKind::kTensor) return false;
  return schema_->overload != "Scalar" ||
         !is_among(schema_->name, {"add", "sub", "mul", "div"});
}

bool Signature::bind(const Call& call, Value* values) const {
  Present present{};
  beyond_int64 = nullptr;
  if (!bind_positional(call, values, present)) return false;
  if (call.keywords && !bind_keywords(call, values, present)) return false;
  for (size_t i = 0; i < arguments(); ++i) {
    if (present[i]) continue;
    const Argument& a = schema_->arguments[i];
    if (a.default_value)
      values[i] = *a.default_value;
    else if (a.keyword_only && a.type.optional)
      values[i] = Value();
    else
      return false;
  }
  if (const PyObject* big = std::exchange(beyond_int64, nullptr)) [[unlikely]]
    settle(const_cast<PyObject*>(big), values);
  if (device_ >= 0 && values[device_].is_none())
    if (const auto& device = default_device()) values[device_] = *device;
  return true;
}

/// A number beyond int64 has been taken as a float; what is made or filled of
/// uint64 gets its bits.
void Signature::settle(PyObject* big, Value* values) const {
  const int at = schema_->find("dtype"), self = schema_->find("self");
  DType dtype = DType::kFloat64;
  if (at >= 0 && !values[at].is_none())
    dtype = DType(values[at].as_int());
  else if (self >= 0 && values[self].is_tensor())
    dtype = values[self].as_tensor().dtype();
  refuse_beyond_int64(
      at >= 0 && self < 0 && values[at].is_none() ? DType::kInt64 : dtype);
  const Scalar exact = to_scalar(big, dtype), rounded = to_scalar(big);
  for (size_t i = 0; i < arguments(); ++i)
    if (schema_->arguments[i].type.kind == ArgKind::kScalar &&
        values[i].is_double() && values[i].as_double() == rounded.to_double())
      values[i] = exact;
}

bool Signature::take(size_t i, PyObject* object, Value* values,
                     Present& present) const {
  if (present[i]) return false;
  present[i] = true;
  const Argument& argument = schema_->arguments[i];
  if (stands_for_default(object, argument)) {
    values[i] = *argument.default_value;
    return true;
  }
  if (to_value(object, argument.type, &values[i])) {
    if (argument.type.kind == ArgKind::kScalar && values[i].is_double() &&
        PyLong_Check(object)) [[unlikely]]
      beyond_int64 = object;
    return true;
  }
  if (object == Py_None && argument.type.kind == ArgKind::kDevice &&
      schema_->name == "to") {
    values[i] = Value();  // the device that it is on
    return true;
  }
  // Numbers that no Scalar holds come as tensors where they may.
  const bool beyond = argument.type.kind == ArgKind::kTensor &&
                      !argument.type.list && i > 0 && is_beyond_int64(object);
  if (!beyond && (int(i) != number_at_ || !is_number(object))) return false;
  const bool floating = std::any_of(values, values + i, [](const Value& v) {
    return v.is_tensor() && is_differentiable(v.tensor_ref().dtype());
  });
  if (beyond && values[0].is_tensor() &&
      is_among(schema_->name, {"fill", "copy"}))
    refuse_beyond_int64(values[0].tensor_ref().dtype());
  // Beside floats an int beyond int64 is one, too, else it is of uint64.
  values[i] = floating ? wrapped_scalar(to_scalar(object), Device{})
                       : number_tensor(object);
  return true;
}

bool Signature::bind_positional(const Call& call, Value* values,
                                Present& present) const {
  size_t given = 0;
  if (self_ >= 0) {
    if (call.positional == 0) return false;
    if (!take(size_t(self_), call.args[given++], values, present)) return false;
  }
  for (size_t i = 0; given < call.positional; ++i) {
    while (i < arguments() && present[i]) ++i;
    if (i == arguments() || schema_->arguments[i].keyword_only) return false;
    if (int(i) == varargs_ && starts_integers(call.args[given]))
      return take_rest(i, call, given, values, present);
    if (!take(i, call.args[given++], values, present)) return false;
  }
  return true;
}

bool Signature::take_rest(size_t i, const Call& call, size_t from,
                          Value* values, Present& present) const {
  std::vector<Value> items;
  ArgType element = schema_->arguments[i].type;
  element.list = false;
  for (size_t k = from; k < call.positional; ++k)
    if (!to_element(call.args[k], k - from, element, &items.emplace_back()))
      return false;
  values[i] = Value::list(std::move(items));
  present[i] = true;
  return true;
}

bool Signature::bind_keywords(const Call& call, Value* values,
                              Present& present) const {
  for (size_t k = 0; k < call.keyword_count(); ++k) {
    size_t i = 0;
    while (i < arguments() &&
           !same_name(schema_->arguments[i].name, call.keyword_name(k)))
      ++i;
    if (i == arguments()) {
      if (ignorable(*schema_, call.keyword_name(k), call.keyword_value(k)))
        continue;
      return false;
    }
    if (!take(i, call.keyword_value(k), values, present)) return false;
  }
  return true;
}

}  // namespace hotaru::python
