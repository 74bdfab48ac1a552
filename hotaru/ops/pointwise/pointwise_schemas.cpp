// Schemas of the arithmetic operators, whose overloads follow no table.
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

using elementwise::operand;
using Mode = Optional<std::string>;

Tensor floor_divide_(const Tensor& a, const Tensor& b) {
  check_overlap(a, b);
  return in_place(
      a, [&](const Tensor& x) { return floor_divide(x, b, "floor_divide_"); });
}

HOTARU_OP(
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    +[](const Tensor& a, const Tensor& b, const Scalar& alpha) {
      return add(a, b, alpha);
    });
HOTARU_OP(
    "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    +[](const Tensor& a, const Scalar& b, const Scalar& alpha) {
      return add(a, b, alpha);
    });
HOTARU_OP(
    "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "
    "Tensor(a!)",
    add_);
HOTARU_OP(
    "add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> "
    "Tensor(a!)",
    +[](const Tensor& a, const Scalar& b, const Scalar& alpha) {
      return add_(a, operand(b, a), alpha);
    });
HOTARU_OP(
    "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    +[](const Tensor& a, const Tensor& b, const Scalar& alpha) {
      return sub(a, b, alpha);
    });
HOTARU_OP(
    "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    +[](const Tensor& a, const Scalar& b, const Scalar& alpha) {
      return sub(a, b, alpha);
    });
HOTARU_OP(
    "sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "
    "Tensor(a!)",
    sub_);
HOTARU_OP(
    "sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> "
    "Tensor(a!)",
    +[](const Tensor& a, const Scalar& b, const Scalar& alpha) {
      return sub_(a, operand(b, a), alpha);
    });
HOTARU_OP(
    "subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
    "Tensor",
    +[](const Tensor& a, const Tensor& b, const Scalar& alpha) {
      return sub(a, b, alpha);
    });
HOTARU_OP(
    "subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    +[](const Tensor& a, const Scalar& b, const Scalar& alpha) {
      return sub(a, b, alpha);
    });
HOTARU_OP(
    "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    +[](const Tensor& a, const Tensor& b, const Scalar& alpha) {
      return rsub(a, b, alpha);
    });
HOTARU_OP(
    "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    +[](const Tensor& a, const Scalar& b, const Scalar& alpha) {
      return rsub(a, b, alpha);
    });
HOTARU_OP(
    "mul.Tensor(Tensor self, Tensor other) -> Tensor",
    +[](const Tensor& a, const Tensor& b) { return mul(a, b); });
HOTARU_OP(
    "mul.Scalar(Tensor self, Scalar other) -> Tensor",
    +[](const Tensor& a, const Scalar& b) { return mul(a, b); });
HOTARU_OP(
    "mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
    +[](const Tensor& a, const Tensor& b) { return mul_(a, b); });
HOTARU_OP(
    "mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
    +[](const Tensor& a, const Scalar& b) { return mul_(a, b); });
HOTARU_OP(
    "multiply.Tensor(Tensor self, Tensor other) -> Tensor",
    +[](const Tensor& a, const Tensor& b) { return mul(a, b); });
HOTARU_OP(
    "multiply.Scalar(Tensor self, Scalar other) -> Tensor",
    +[](const Tensor& a, const Scalar& b) { return mul(a, b); });
HOTARU_OP(
    "div.Tensor(Tensor self, Tensor other) -> Tensor",
    +[](const Tensor& a, const Tensor& b) { return div(a, b); });
HOTARU_OP(
    "div.Scalar(Tensor self, Scalar other) -> Tensor",
    +[](const Tensor& a, const Scalar& b) { return div(a, b); });
Tensor div_by(const Tensor& a, const Tensor& b, const Mode& mode) {
  return div(a, b, mode.value_or(""));
}
Tensor div_by_number(const Tensor& a, const Scalar& b, const Mode& mode) {
  return div(a, operand(b, a), mode.value_or(""));
}
HOTARU_OP(
    "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) "
    "-> Tensor",
    div_by);
HOTARU_OP(
    "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) "
    "-> Tensor",
    div_by_number);
HOTARU_OP("div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", div_);
HOTARU_OP(
    "div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
    +[](const Tensor& a, const Scalar& b) { return div_(a, operand(b, a)); });
HOTARU_OP(
    "div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) "
    "-> Tensor(a!)",
    +[](const Tensor& a, const Tensor& b, const Mode& mode) {
      check_overlap(a, b);
      return in_place(
          a, [&](const Tensor& x) { return div(x, b, mode.value_or("")); });
    });
HOTARU_OP(
    "div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) "
    "-> Tensor(a!)",
    +[](const Tensor& a, const Scalar& b, const Optional<std::string>& mode) {
      return in_place(a, [&](const Tensor& x) {
        return div(x, operand(b, x), mode.value_or(""));
      });
    });
HOTARU_OP(
    "divide.Tensor(Tensor self, Tensor other) -> Tensor",
    +[](const Tensor& a, const Tensor& b) { return div(a, b); });
HOTARU_OP(
    "divide.Scalar(Tensor self, Scalar other) -> Tensor",
    +[](const Tensor& a, const Scalar& b) { return div(a, b); });
HOTARU_OP(
    "divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) "
    "-> Tensor",
    div_by);
HOTARU_OP(
    "divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) "
    "-> Tensor",
    div_by_number);
HOTARU_OP(
    "true_divide.Tensor(Tensor self, Tensor other) -> Tensor",
    +[](const Tensor& a, const Tensor& b) { return div(a, b); });
HOTARU_OP(
    "true_divide.Scalar(Tensor self, Scalar other) -> Tensor",
    +[](const Tensor& a, const Scalar& b) { return div(a, b); });
HOTARU_OP("true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          div_);
HOTARU_OP(
    "true_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
    +[](const Tensor& a, const Scalar& b) { return div_(a, operand(b, a)); });
HOTARU_OP(
    "floor_divide(Tensor self, Tensor other) -> Tensor",
    +[](const Tensor& a, const Tensor& b) { return floor_divide(a, b); });
HOTARU_OP(
    "floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
    +[](const Tensor& a, const Scalar& b) {
      return floor_divide(a, operand(b, a));
    });
HOTARU_OP("floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          floor_divide_);
HOTARU_OP(
    "floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
    +[](const Tensor& a, const Scalar& b) {
      return floor_divide_(a, operand(b, a));
    });
HOTARU_OP(
    "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
    +[](const Scalar& a, const Tensor& b) {
      return remainder(operand(a, b), b);
    });
HOTARU_OP(
    "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    +[](const Tensor& a, const Tensor& b) { return pow(a, b); });
HOTARU_OP(
    "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    +[](const Tensor& a, const Scalar& b) { return pow(a, b); });
HOTARU_OP(
    "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    +[](const Scalar& a, const Tensor& b) { return pow(a, b); });
HOTARU_OP(
    "pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)",
    +[](const Tensor& a, const Tensor& b) {
      check_can_cast(result_type({a, b}), a.dtype());
      check_overlap(a, b);
      return in_place(a, [&](const Tensor& x) { return pow(x, b); });
    });
HOTARU_OP(
    "pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)",
    +[](const Tensor& a, const Scalar& b) {
      return in_place(a, [&](const Tensor& x) { return pow(x, b); });
    });
/// Dtype that float_power() computes in.
DType wide(DType dtype) {
  return is_complex(dtype) ? DType::kComplex128 : DType::kFloat64;
}
void check_float_power(const Tensor& base, DType dtype) {
  HOTARU_CHECK(base.dtype() == dtype,
               "the base given to float_power_ has "
               "dtype ",
               scalar_type_name(base.dtype()),
               " but the operation's result requires dtype ",
               scalar_type_name(dtype));
}
HOTARU_OP(
    "float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    +[](const Tensor& a, const Tensor& b) {
      const DType dtype = wide(result_type({a, b}));
      return pow(to(a, dtype), to(b, dtype));
    });
HOTARU_OP(
    "float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    +[](const Tensor& a, const Scalar& b) {
      return pow(to(a, wide(result_type({a, operand(b, a)}))), b);
    });
HOTARU_OP(
    "float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)",
    +[](const Tensor& a, const Tensor& b) {
      const DType dtype = wide(result_type({a, b}));
      check_float_power(a, dtype);
      return in_place(a, [&](const Tensor& x) { return pow(x, to(b, dtype)); });
    });
HOTARU_OP(
    "float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)",
    +[](const Tensor& a, const Scalar& b) {
      check_float_power(a, wide(result_type({a, operand(b, a)})));
      return in_place(a, [&](const Tensor& x) { return pow(x, b); });
    });
HOTARU_OP(
    "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
    +[](const Scalar& a, const Tensor& b) {
      return pow(a, to(b, wide(result_type({b, operand(a, b)}))));
    });

/// A number to choose between it and elements of x, in whose dtype it has to
/// fit.
Tensor choice(const Scalar& value, const Tensor& x) {
  Tensor out = operand(value, x);
  if (!all_hold(value)) check_holds(result_type({x, out}), value);
  return out;
}

HOTARU_OP("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
          where);
HOTARU_OP(
    "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> "
    "Tensor",
    +[](const Tensor& c, const Tensor& a, const Scalar& b) {
      return where(c, a, choice(b, a));
    });
HOTARU_OP(
    "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> "
    "Tensor",
    +[](const Tensor& c, const Scalar& a, const Tensor& b) {
      return where(c, choice(a, b), b);
    });
HOTARU_OP(
    "where.Scalar(Tensor condition, Scalar self, Scalar other) -> "
    "Tensor",
    +[](const Tensor& c, const Scalar& a, const Scalar& b) {
      return where(c, operand(a, c), operand(b, c));
    });
// Behind those with a `self`, which make it a method.
HOTARU_OP("where(Tensor condition) -> Tensor[]", nonzero_numpy);
Tensor fill_where(const Tensor& self, const Tensor& mask, const Tensor& value) {
  HOTARU_CHECK(value.dim() == 0,
               "masked_fill_ only supports a 0-dimensional value tensor, but "
               "got tensor with ",
               value.dim(), " dimension(s).");
  check_mask(mask);
  return where(mask, to(value, self.dtype()), self);
}

/// f(self, mask) in place. Of repeated elements, which PyTorch warns of, those
/// are filled that the mask names at least once.
template <class F>
Tensor fill_where_(const Tensor& self, const Tensor& mask, F f) {
  check_overlap(self, mask);
  if (!repeats(self))
    return in_place(self, [&](const Tensor& x) { return f(x, mask); });
  warn_of_repeats("masked_fill_");
  Dims repeated;
  for (size_t d = 0; d < self.sizes().size(); ++d)
    if (self.strides()[d] == 0) repeated.push_back(int64_t(d));
  check_mask(mask);
  const Tensor once = any(expand(mask, self.sizes()), repeated, true);
  in_place(without_repeats(self), [&](const Tensor& x) { return f(x, once); });
  return self;
}

HOTARU_OP(
    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> "
    "Tensor",
    fill_where);
HOTARU_OP(
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> "
    "Tensor",
    masked_fill);
HOTARU_OP(
    "masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> "
    "Tensor(a!)",
    hotaru::masked_fill_);
HOTARU_OP(
    "masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> "
    "Tensor(a!)",
    +[](const Tensor& self, const Tensor& mask, const Scalar& value) {
      return fill_where_(self, mask, [&](const Tensor& x, const Tensor& where) {
        return masked_fill(x, where, value);
      });
    });
HOTARU_OP(
    "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    +[](const Tensor& self, const Tensor& end, const Tensor& weight) {
      return lerp(self, end, weight);
    });
HOTARU_OP(
    "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    +[](const Tensor& self, const Tensor& end, const Scalar& weight) {
      return lerp(self, end, weight);
    });
HOTARU_OP(
    "lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)",
    +[](const Tensor& self, const Tensor& end, const Tensor& weight) {
      for (const Tensor* t : {&end, &weight}) check_overlap(self, *t);
      return in_place(self,
                      [&](const Tensor& x) { return lerp(x, end, weight); });
    });
HOTARU_OP(
    "lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> "
    "Tensor(a!)",
    +[](const Tensor& self, const Tensor& end, const Scalar& weight) {
      check_overlap(self, end);
      return in_place(self,
                      [&](const Tensor& x) { return lerp(x, end, weight); });
    });
HOTARU_OP(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
    "value=1) -> Tensor",
    addcmul);
HOTARU_OP(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
    "value=1) -> Tensor",
    addcdiv);
HOTARU_OP(
    "addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, "
    "Scalar value=1) -> Tensor(a!)",
    +[](const Tensor& self, const Tensor& a, const Tensor& b,
        const Scalar& value) {
      for (const Tensor* t : {&a, &b}) check_overlap(self, *t);
      return in_place(self,
                      [&](const Tensor& x) { return addcmul(x, a, b, value); });
    });
HOTARU_OP(
    "addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, "
    "Scalar value=1) -> Tensor(a!)",
    +[](const Tensor& self, const Tensor& a, const Tensor& b,
        const Scalar& value) {
      for (const Tensor* t : {&a, &b}) check_overlap(self, *t);
      return in_place(self,
                      [&](const Tensor& x) { return addcdiv(x, a, b, value); });
    });

}  // namespace

Tensor masked_fill_(const Tensor& self, const Tensor& mask,
                    const Tensor& value) {
  return fill_where_(self, mask, [&](const Tensor& x, const Tensor& where) {
    return fill_where(x, where, value);
  });
}

}  // namespace hotaru
