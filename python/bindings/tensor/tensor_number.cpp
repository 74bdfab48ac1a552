#include "bindings/tensor/tensor_number.h"

#include "bindings/errors.h"
#include "bindings/ops/override.h"
#include "bindings/tensor/buffer.h"
#include "bindings/tensor/creation.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

using elementwise::operand;
using TensorFunction = Tensor (*)(const Tensor&, const Tensor&);

// The operators as functions of two tensors; a number becomes a
// zero-dimensional operand that yields in promotion.
Tensor plus(const Tensor& a, const Tensor& b) {
  return add(a, b);
}
Tensor minus(const Tensor& a, const Tensor& b) {
  return sub(a, b);
}
Tensor times(const Tensor& a, const Tensor& b) {
  return mul(a, b);
}
Tensor over(const Tensor& a, const Tensor& b) {
  return div(a, b);
}
Tensor floor_over(const Tensor& a, const Tensor& b) {
  return floor_divide(a, b);
}
Tensor modulo(const Tensor& a, const Tensor& b) {
  return remainder(a, b);
}

Tensor power(const Tensor& a, const Tensor& b) {
  // A number as exponent takes the way of squares and roots; one as base has a
  // shorter gradient.
  if (b.impl()->wrapped_number) return pow(a, item(b));
  return a.impl()->wrapped_number ? pow(item(a), b) : pow(a, b);
}

/// As operators, which autocast may stand before.
Tensor listed_power(const Tensor& a, const Tensor& b) {
  if (!autocast::active()) [[likely]]
    return power(a, b);
  if (b.impl()->wrapped_number)
    return autocast::by_name("pow", "Tensor_Scalar", {a, item(b)});
  if (a.impl()->wrapped_number)
    return autocast::by_name("pow", "Scalar", {item(a), b});
  return autocast::by_name("pow", "Tensor_Tensor", {a, b});
}

Tensor inverse_of(const Tensor& a) {
  return autocast::active() ? autocast::by_name("reciprocal", "", {a})
                            : reciprocal(a);
}

// In place; div_ and pow_ by way of the result.
Tensor plus_in(const Tensor& a, const Tensor& b) {
  return add_(a, b);
}
Tensor minus_in(const Tensor& a, const Tensor& b) {
  return sub_(a, b);
}
Tensor times_in(const Tensor& a, const Tensor& b) {
  return mul_(a, b);
}
Tensor over_in(const Tensor& a, const Tensor& b) {
  return div_(a, b);
}
template <TensorFunction F>
Tensor in_place_slot(const Tensor& a, const Tensor& b) {
  check_overlap(a, b);
  return in_place(a, [&](const Tensor& x) { return F(x, b); });
}
/// Checks first: what cannot be stored is not computed either.
Tensor power_in(const Tensor& a, const Tensor& b) {
  check_can_cast(result_type({a, b}), a.dtype());
  return in_place_slot<power>(a, b);
}

/// The operand beside a tensor: a tensor as it is, a number as an operand;
/// undefined for anything else.
Tensor other_operand(PyObject* object, const Tensor& beside) {
  if (is_tensor(object)) return tensor_of(object);
  if (!is_number(object)) return {};
  if (is_beyond_int64(object) && is_integral(beside.dtype(), true))
    return number_tensor(object);
  return operand(to_scalar(object), beside);
}

/// The tensor of a numpy array that is compared or divided, which numpy leaves
/// to tensors; undefined for anything else, and for dtypes that tensors lack.
Tensor array_operand(PyObject* object) {
  if (!is_array(object)) return {};
  try {
    return tensor_over_array(object);
  } catch (const TypeError&) {
    return {};
  }
}

template <TensorFunction F>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (is_tensor(a) && is_tensor(b))
      return wrap(F(tensor_of(a), tensor_of(b)));
    const Tensor& known = tensor_of(is_tensor(a) ? a : b);
    const Tensor x = other_operand(a, known), y = other_operand(b, known);
    if (!x.defined() || !y.defined()) Py_RETURN_NOTIMPLEMENTED;
    return wrap(F(x, y));
  });
}

/// Subtracts from what is no tensor, which has a name of its own in histories.
PyObject* minus_slot(PyObject* a, PyObject* b) {
  if (is_tensor(a)) return binary<minus>(a, b);
  return guarded([&]() -> PyObject* {
    const Tensor& self = tensor_of(b);
    const Tensor number = other_operand(a, self);
    if (!number.defined()) Py_RETURN_NOTIMPLEMENTED;
    return wrap(rsub(self, number));
  });
}

template <overrides::Name kName, overrides::Name kReflected, TensorFunction F>
PyObject* power_slot(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return overrides::binary<kName, kReflected, binary<F>>(a, b);
}

/// A number comes second, where it is not rounded to the tensor's dtype.
PyObject* multiply(PyObject* a, PyObject* b) {
  return is_number(a) ? binary<times>(b, a) : binary<times>(a, b);
}

/// Integers of an array in the floats that numpy holds them in, where those of
/// tensors would be narrower.
Tensor with_floats(const Tensor& array) {
  if (!is_integral(array.dtype(), false) || itemsize(array.dtype()) == 1)
    return array;
  return to(array,
            itemsize(array.dtype()) == 2 ? DType::kFloat32 : DType::kFloat64);
}

PyObject* divide(PyObject* a, PyObject* b) {
  if (!is_tensor(a) && !is_number(a)) {
    return guarded([&]() -> PyObject* {
      const Tensor x = array_operand(a);
      if (!x.defined()) Py_RETURN_NOTIMPLEMENTED;
      return wrap(over(with_floats(x), tensor_of(b)));
    });
  }
  if (is_number(a))  // as PyTorch rounds it
    return guarded([&] {
      const Tensor& y = tensor_of(b);
      return wrap(mul(inverse_of(y), operand(to_scalar(a), y)));
    });
  return binary<over>(a, b);
}

PyObject* matmul_slot(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(a) || !is_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
    const Tensor &x = tensor_of(a), &y = tensor_of(b);
    return wrap(autocast::active() ? autocast::by_name("matmul", "", {x, y})
                                   : matmul(x, y));
  });
}

Tensor inverted(const Tensor& a) {
  HOTARU_CHECK_AS(TypeError, is_integral(a.dtype(), true),
                  "~ (operator.invert) is only implemented on integer and "
                  "Boolean-type tensors");
  return bitwise_not(a);
}

template <Tensor (*F)(const Tensor&)>
PyObject* unary(PyObject* a) {
  return guarded([&] { return wrap(F(tensor_of(a))); });
}

PyObject* positive(PyObject* a) {
  return guarded([&] {
    HOTARU_CHECK(tensor_of(a).dtype() != DType::kBool,
                 "The `+` operator, on a bool tensor is not supported.");
    return Py_NewRef(a);
  });
}

Scalar number_of(PyObject* self, const char* wanted) {
  return named(wanted, [&] { return number_in(tensor_of(self)); });
}

int truth(PyObject* self) {
  if (overrides::possible && overrides::overridden({self})) [[unlikely]] {
    PyObject* answer = overrides::ask_attribute("__bool__", nullptr, {self});
    const int value = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return value;
  }
  return guarded(
      [&] {
        const Tensor& t = tensor_of(self);
        HOTARU_CHECK(t.numel() > 0,
                     "Boolean value of Tensor with no values is ambiguous");
        HOTARU_CHECK(t.numel() == 1,
                     "Boolean value of Tensor with more than one value is "
                     "ambiguous");
        return int(number_of(self, "bool").to_complex() != 0.0);
      },
      -1);
}

/// The number that a tensor of one element is. ValueError if it has others.
Scalar only_number(PyObject* self, const char* wanted) {
  HOTARU_CHECK_AS(ValueError, tensor_of(self).numel() == 1,
                  "only one element tensors can be converted to Python "
                  "scalars");
  return number_of(self, wanted);
}

PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Scalar value = only_number(self, "int");
    if (tensor_of(self).dtype() == DType::kUInt64)
      return item_of(tensor_of(self));
    if (value.is_integral()) return PyLong_FromLongLong(value.to_int());
    return PyLong_FromDouble(value.to_double());
  });
}

PyObject* as_float(PyObject* self) {
  return guarded([&] {
    warn_of_lost_history(tensor_of(self));
    return PyFloat_FromDouble(only_number(self, "float").to_double());
  });
}

PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    HOTARU_CHECK_AS(TypeError, is_integral(t.dtype(), true) && t.numel() == 1,
                    "only integer tensors of a single element can be converted "
                    "to an index");
    if (t.dtype() == DType::kUInt64) return item_of(t);
    return PyLong_FromLongLong(number_of(self, "index").to_int());
  });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  if (overrides::possible && overrides::overridden({a, b})) [[unlikely]] {
    static constexpr const char* kNames[] = {"lt", "le", "__eq__",
                                             "ne", "gt", "ge"};
    return overrides::or_not_implemented(
        overrides::ask_attribute(kNames[op], nullptr, {a, b}));
  }
  return guarded([&]() -> PyObject* {
    const Tensor& x = tensor_of(a);
    Tensor y = other_operand(b, x);
    if (!y.defined() && (op == Py_EQ || op == Py_NE)) y = array_operand(b);
    if (!y.defined()) Py_RETURN_NOTIMPLEMENTED;
    switch (op) {
      case Py_LT:
        return wrap(lt(x, y));
      case Py_LE:
        return wrap(le(x, y));
      case Py_EQ:
        return wrap(eq(x, y));
      case Py_NE:
        return wrap(ne(x, y));
      case Py_GT:
        return wrap(gt(x, y));
      default:
        return wrap(ge(x, y));
    }
  });
}

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

void warn_of_lost_history(const Tensor& t) {
  static constinit OnceWarning lost{
      "Converting a tensor with requires_grad=True to a scalar may lead to "
      "unexpected behavior.\nConsider using tensor.detach() first."};
  if (autograd::requires_grad(t) && autograd::grad_enabled()) [[unlikely]]
    lost.give();
}

void init_numbers(nanobind::module_& m) {
  m.def("_warn_of_lost_history", &warn_of_lost_history);
}

void add_number_slots(std::vector<PyType_Slot>& slots) {
  const PyType_Slot mine[] = {
      {Py_nb_add, slot(overrides::binary<"add", "add", binary<plus>>)},
      {Py_nb_subtract, slot(overrides::binary<"sub", "__rsub__", minus_slot>)},
      {Py_nb_multiply, slot(overrides::binary<"mul", "mul", multiply>)},
      {Py_nb_true_divide, slot(overrides::binary<"div", "__rdiv__", divide>)},
      {Py_nb_floor_divide,
       slot(overrides::binary<"__floordiv__", "__rfloordiv__",
                              binary<floor_over>>)},
      {Py_nb_remainder,
       slot(overrides::binary<"remainder", "__rmod__", binary<modulo>>)},
      {Py_nb_power, slot(power_slot<"__pow__", "__rpow__", listed_power>)},
      {Py_nb_matrix_multiply,
       slot(overrides::binary<"matmul", "__rmatmul__", matmul_slot>)},
      {Py_nb_lshift, slot(overrides::binary<"__lshift__", "__rlshift__",
                                            binary<bitwise_left_shift>>)},
      {Py_nb_rshift, slot(overrides::binary<"__rshift__", "__rrshift__",
                                            binary<bitwise_right_shift>>)},
      {Py_nb_and,
       slot(overrides::binary<"__and__", "bitwise_and", binary<bitwise_and>>)},
      {Py_nb_or,
       slot(overrides::binary<"__or__", "bitwise_or", binary<bitwise_or>>)},
      {Py_nb_xor,
       slot(overrides::binary<"__xor__", "bitwise_xor", binary<bitwise_xor>>)},
      {Py_nb_inplace_add,
       slot(overrides::binary<"add_", "add_", binary<plus_in>>)},
      {Py_nb_inplace_subtract,
       slot(overrides::binary<"sub_", "sub_", binary<minus_in>>)},
      {Py_nb_inplace_multiply,
       slot(overrides::binary<"mul_", "mul_", binary<times_in>>)},
      {Py_nb_inplace_true_divide,
       slot(overrides::binary<"div_", "div_", binary<over_in>>)},
      {Py_nb_inplace_floor_divide,
       slot(overrides::binary<"floor_divide_", "floor_divide_",
                              binary<in_place_slot<floor_over>>>)},
      {Py_nb_inplace_remainder,
       slot(overrides::binary<"remainder_", "remainder_",
                              binary<in_place_slot<modulo>>>)},
      {Py_nb_inplace_power, slot(power_slot<"__ipow__", "__ipow__", power_in>)},
      {Py_nb_inplace_lshift,
       slot(overrides::binary<"__ilshift__", "__ilshift__",
                              binary<in_place_slot<bitwise_left_shift>>>)},
      {Py_nb_inplace_rshift,
       slot(overrides::binary<"__irshift__", "__irshift__",
                              binary<in_place_slot<bitwise_right_shift>>>)},
      {Py_nb_inplace_and,
       slot(overrides::binary<"__iand__", "__iand__",
                              binary<in_place_slot<bitwise_and>>>)},
      {Py_nb_inplace_or,
       slot(overrides::binary<"__ior__", "__ior__",
                              binary<in_place_slot<bitwise_or>>>)},
      {Py_nb_inplace_xor,
       slot(overrides::binary<"__ixor__", "__ixor__",
                              binary<in_place_slot<bitwise_xor>>>)},
      {Py_nb_negative, slot(overrides::unary<"neg", unary<neg>>)},
      {Py_nb_positive, slot(overrides::unary<"positive", positive>)},
      {Py_nb_absolute, slot(overrides::unary<"abs", unary<abs>>)},
      {Py_nb_invert, slot(overrides::unary<"__invert__", unary<inverted>>)},
      {Py_nb_bool, slot(truth)},
      {Py_nb_int, slot(overrides::unary<"__int__", as_int>)},
      {Py_nb_float, slot(overrides::unary<"__float__", as_float>)},
      {Py_nb_index, slot(overrides::unary<"__index__", as_index>)},
      {Py_tp_richcompare, slot(compare)}};
  slots.insert(slots.end(), std::begin(mine), std::end(mine));
}

}  // namespace hotaru::python
