// Functions of several numbers, element by element.
#include <numbers>

#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

// The second operand times alpha.
std::string scaled(Lowering& l, int i, DType of) {
  std::string x = l.tensor(i, of);
  if (!l.has("alpha") ||
      (l.is_known("alpha") && l.scalar("alpha").to_double() == 1))
    return x;
  return l.op("Mul", {x, l.tensor("alpha", of)});
}

void add(Lowering& l) {
  const DType of = l.out().dtype();
  if (of == DType::kBool)
    return l.result(l.op("Or", {l.tensor(0, of), l.tensor(1, of)}));
  l.result(l.op("Add", {l.tensor(0, of), scaled(l, 1, of)}));
}

void sub(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Sub", {l.tensor(0, of), scaled(l, 1, of)}));
}

void rsub(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Sub", {l.tensor(1, of), scaled(l, 0, of)}));
}

template <Text kOp>
void binary(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op(kOp.data, {l.tensor(0, of), l.tensor(1, of)}));
}

void mul(Lowering& l) {
  const DType of = l.out().dtype();
  if (of == DType::kBool) return binary<"And">(l);
  l.result(l.op("Mul", {l.tensor(0, of), l.tensor(1, of)}));
}

std::string floored(Lowering& l, DType of) {
  const std::string x = l.tensor(0, of);
  const std::string y = l.tensor(1, of);
  if (is_floating_point(of)) return l.op("Floor", {l.op("Div", {x, y})});
  // Division of integers goes towards zero: what is left over is subtracted
  // before. Mod has the divisor's sign.
  return l.op("Div", {l.op("Sub", {x, l.op("Mod", {x, y})}), y});
}

std::string towards_zero(Lowering& l, DType of) {
  const std::string x = l.tensor(0, of);
  const std::string y = l.tensor(1, of);
  const std::string quotient = l.op("Div", {x, y});
  if (!is_floating_point(of)) return quotient;
  return l.op("Mul", {l.op("Sign", {quotient}),
                      l.op("Floor", {l.op("Abs", {quotient})})});
}

void div(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string mode =
      l.given("rounding_mode") ? l.text("rounding_mode") : "";
  if (mode == "floor") return l.result(floored(l, of));
  if (mode == "trunc") return l.result(towards_zero(l, of));
  l.result(l.op("Div", {l.tensor(0, of), l.tensor(1, of)}));
}

void floor_divide(Lowering& l) {
  l.result(floored(l, l.out().dtype()));
}

void remainder(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const std::string y = l.tensor(1, of);
  if (!is_floating_point(of)) return l.result(l.op("Mod", {x, y}));
  const std::string whole = l.op("Floor", {l.op("Div", {x, y})});
  l.result(l.op("Sub", {x, l.op("Mul", {whole, y})}));
}

void fmod(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Mod", {l.tensor(0, of), l.tensor(1, of)}, {attr("fmod", 1)}));
}

void pow(Lowering& l) {
  const DType of = l.out().dtype();
  if (l.at(1).is_host() && l.at(1).host.is_number() &&
      !l.at(1).host.is_complex()) {
    const double exponent = l.at(1).host.as_scalar().to_double();
    const std::string x = l.tensor(0, of);
    if (exponent == 2) return l.result(l.op("Mul", {x, x}));
    if (exponent == 0.5) return l.result(l.op("Sqrt", {x}));
  }
  l.result(l.op("Pow", {l.tensor(0, of), l.tensor(1, of)}));
}

// Bool has no order in ONNX.
DType ordered(DType of) {
  return of == DType::kBool ? DType::kInt32 : of;
}

template <Text kOp>
void compare(Lowering& l) {
  const DType of = ordered(common_dtype(l, 0, 1));
  l.result(l.op(kOp.data, {l.tensor(0, of), l.tensor(1, of)}));
}

void ne(Lowering& l) {
  const DType of = common_dtype(l, 0, 1);
  l.result(l.op("Not", {l.op("Equal", {l.tensor(0, of), l.tensor(1, of)})}));
}

void eq(Lowering& l) {
  const DType of = common_dtype(l, 0, 1);
  l.result(l.op("Equal", {l.tensor(0, of), l.tensor(1, of)}));
}

template <Text kOp>
void extreme(Lowering& l) {
  const DType of = l.out().dtype();
  const DType in = ordered(of);
  l.result(l.cast(l.op(kOp.data, {l.tensor(0, in), l.tensor(1, in)}), in, of));
}

template <Text kOp>
void logical(Lowering& l) {
  l.result(
      l.op(kOp.data, {l.tensor(0, DType::kBool), l.tensor(1, DType::kBool)}));
}

template <Text kLogical, Text kBits>
void bitwise(Lowering& l) {
  const DType of = l.out().dtype();
  if (of != DType::kBool && l.opset() < 18)
    l.refuse("bits of integers need opset 18");
  l.result(l.op(of == DType::kBool ? kLogical.data : kBits.data,
                {l.tensor(0, of), l.tensor(1, of)}));
}

void where(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Where",
                {l.tensor(0, DType::kBool), l.tensor(1, of), l.tensor(2, of)}));
}

void masked_fill(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Where", {l.tensor("mask", DType::kBool), l.tensor("value", of),
                          l.tensor(0, of)}));
}

void clamp(Lowering& l) {
  const DType of = l.out().dtype();
  const DType in = ordered(of);
  std::string x = l.tensor(0, in);
  if (l.given("min")) x = l.op("Max", {x, l.tensor("min", in)});
  if (l.given("max")) x = l.op("Min", {x, l.tensor("max", in)});
  l.result(l.cast(x, in, of));
}

void lerp(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string start = l.tensor(0, of);
  const std::string way = l.op("Sub", {l.tensor("end", of), start});
  l.result(l.op("Add", {start, l.op("Mul", {way, l.tensor("weight", of)})}));
}

template <Text kOp>
void addc(Lowering& l) {
  const DType of = l.out().dtype();
  std::string x =
      l.op(kOp.data, {l.tensor("tensor1", of), l.tensor("tensor2", of)});
  if (!l.is_known("value") || l.scalar("value").to_double() != 1)
    x = l.op("Mul", {x, l.tensor("value", of)});
  l.result(l.op("Add", {l.tensor(0, of), x}));
}

void hypot(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const std::string y = l.tensor(1, of);
  l.result(
      l.op("Sqrt", {l.op("Add", {l.op("Mul", {x, x}), l.op("Mul", {y, y})})}));
}

// The arc tangent of y / x, moved to the quadrant of (x, y).
void atan2(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string y = l.tensor(0, of);
  const std::string x = l.tensor(1, of);
  const std::string zero = like(l, 0, of);
  const std::string pi = like(l, std::numbers::pi, of);
  const std::string slope = l.op("Atan", {l.op("Div", {y, x})});
  const std::string below = l.op("Less", {y, zero});
  const std::string turned = l.op(
      "Where", {below, l.op("Sub", {slope, pi}), l.op("Add", {slope, pi})});
  const std::string left = l.op("Less", {x, zero});
  const std::string both =
      l.op("And", {l.op("Equal", {x, zero}), l.op("Equal", {y, zero})});
  l.result(l.op("Where", {both, zero, l.op("Where", {left, turned, slope})}));
}

void xlogy(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const std::string zero = like(l, 0, of);
  l.result(l.op("Where", {l.op("Equal", {x, zero}), zero,
                          l.op("Mul", {x, l.op("Log", {l.tensor(1, of)})})}));
}

void isclose(Lowering& l) {
  const DType of = common_dtype(l, 0, 1);
  const std::string x = l.tensor(0, of);
  const std::string y = l.tensor(1, of);
  const std::string gap = l.op("Abs", {l.op("Sub", {x, y})});
  const std::string may = l.op(
      "Add", {like(l, l.real("atol"), of),
              l.op("Mul", {like(l, l.real("rtol"), of), l.op("Abs", {y})})});
  l.result(l.op("LessOrEqual", {gap, may}));
}

constexpr Row kBinaryRows[] = {
    {"add", add},
    {"sub", sub},
    {"subtract", sub},
    {"rsub", rsub},
    {"mul", mul},
    {"multiply", mul},
    {"div", div},
    {"divide", div},
    {"true_divide", div},
    {"floor_divide", floor_divide},
    {"remainder", remainder},
    {"fmod", fmod},
    {"pow", pow},
    {"float_power", pow},
    {"eq", eq},
    {"ne", ne},
    {"not_equal", ne},
    {"lt", compare<"Less">},
    {"less", compare<"Less">},
    {"le", compare<"LessOrEqual">},
    {"less_equal", compare<"LessOrEqual">},
    {"gt", compare<"Greater">},
    {"greater", compare<"Greater">},
    {"ge", compare<"GreaterOrEqual">},
    {"greater_equal", compare<"GreaterOrEqual">},
    {"maximum", extreme<"Max">},
    {"max.other", extreme<"Max">},
    {"fmax", extreme<"Max">},
    {"minimum", extreme<"Min">},
    {"min.other", extreme<"Min">},
    {"fmin", extreme<"Min">},
    {"logical_and", logical<"And">},
    {"logical_or", logical<"Or">},
    {"logical_xor", logical<"Xor">},
    {"bitwise_and", bitwise<"And", "BitwiseAnd">},
    {"__and__", bitwise<"And", "BitwiseAnd">},
    {"bitwise_or", bitwise<"Or", "BitwiseOr">},
    {"__or__", bitwise<"Or", "BitwiseOr">},
    {"bitwise_xor", bitwise<"Xor", "BitwiseXor">},
    {"__xor__", bitwise<"Xor", "BitwiseXor">},
    {"where.self", where},
    {"where.ScalarOther", where},
    {"where.ScalarSelf", where},
    {"where.Scalar", where},
    {"masked_fill", masked_fill},
    {"clamp", clamp},
    {"clip", clamp},
    {"clamp_min", clamp},
    {"clamp_max", clamp},
    {"lerp", lerp},
    {"addcmul", addc<"Mul">},
    {"addcdiv", addc<"Div">},
    {"hypot", hypot},
    {"atan2", atan2},
    {"arctan2", atan2},
    {"xlogy", xlogy},
    {"special_xlogy", xlogy},
    {"isclose", isclose},
};

}  // namespace

Rows binary_rows() {
  return kBinaryRows;
}

}  // namespace hotaru::exchange::onnx_out
