// Functions of one number, element by element.
#include <cmath>
#include <numbers>

#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

void rsqrt(Lowering& l) {
  l.result(l.op("Reciprocal", {l.op("Sqrt", {l.tensor(0, l.out().dtype())})}));
}

void square(Lowering& l) {
  const std::string x = l.tensor(0);
  l.result(l.op("Mul", {x, x}));
}

void expm1(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Sub", {l.op("Exp", {l.tensor(0, of)}), like(l, 1, of)}));
}

void log1p(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Log", {l.op("Add", {l.tensor(0, of), like(l, 1, of)})}));
}

template <int kBase>
void log_of(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Div", {l.op("Log", {l.tensor(0, of)}),
                        like(l, std::log(double(kBase)), of)}));
}

void exp2(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Pow", {like(l, 2, of), l.tensor(0, of)}));
}

void erfc(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(l.op("Sub", {like(l, 1, of), l.op("Erf", {l.tensor(0, of)})}));
}

// Integers are whole already.
template <Text kOp>
void rounded(Lowering& l) {
  if (!is_floating_point(l.dtype())) return unary<"Identity">(l);
  if (l.given("decimals")) {
    if (const int64_t decimals = l.integer("decimals"); decimals != 0) {
      const std::string unit =
          like(l, std::pow(10.0, double(decimals)), l.dtype());
      const std::string scaled = l.op("Mul", {l.tensor(0), unit});
      return l.result(l.op("Div", {l.op("Round", {scaled}), unit}));
    }
  }
  l.result(l.op(kOp.data, {l.tensor(0)}));
}

std::string truncated(Lowering& l, const std::string& x) {
  return l.op("Mul", {l.op("Sign", {x}), l.op("Floor", {l.op("Abs", {x})})});
}

void trunc(Lowering& l) {
  if (!is_floating_point(l.dtype())) return unary<"Identity">(l);
  l.result(truncated(l, l.tensor(0)));
}

void frac(Lowering& l) {
  const std::string x = l.tensor(0);
  l.result(l.op("Sub", {x, truncated(l, x)}));
}

void logical_not(Lowering& l) {
  l.result(l.op("Not", {l.tensor(0, DType::kBool)}));
}

void bitwise_not(Lowering& l) {
  if (l.dtype() == DType::kBool) return logical_not(l);
  if (l.opset() >= 18) return l.result(l.op("BitwiseNot", {l.tensor(0)}));
  // In two's complement.
  const std::string negative = l.op("Neg", {l.tensor(0)});
  l.result(l.op("Sub", {negative, like(l, 1, l.dtype())}));
}

template <Text kOp>
void question(Lowering& l) {
  if (is_floating_point(l.dtype()))
    return l.result(l.op(kOp.data, {l.tensor(0)}));
  const std::string no = l.number(Scalar(false), DType::kBool);
  l.result(expanded(l, no, l.shape_of(l.tensor(0))));
}

void isfinite(Lowering& l) {
  const DType of = is_floating_point(l.dtype()) ? l.dtype() : DType::kFloat32;
  const std::string x = l.tensor(0, of);
  l.result(l.op("Not", {l.op("Or", {l.op("IsNaN", {x}), l.op("IsInf", {x})})}));
}

void logit(Lowering& l) {
  const DType of = l.out().dtype();
  std::string x = l.tensor(0, of);
  if (l.given("eps")) {
    const double eps = l.real("eps");
    x = l.op("Clip", {x, like(l, eps, of), like(l, 1 - eps, of)});
  }
  l.result(l.op("Log", {l.op("Div", {x, l.op("Sub", {like(l, 1, of), x})})}));
}

template <bool kToRadians>
void angle(Lowering& l) {
  const DType of = l.out().dtype();
  const double unit = std::numbers::pi / 180;
  l.result(l.op("Mul",
                {l.tensor(0, of), like(l, kToRadians ? unit : 1 / unit, of)}));
}

void sinc(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x =
      l.op("Mul", {l.tensor(0, of), like(l, std::numbers::pi, of)});
  const std::string zero = l.op("Equal", {x, like(l, 0, of)});
  const std::string safe = l.op("Where", {zero, like(l, 1, of), x});
  l.result(l.op("Where", {zero, like(l, 1, of),
                          l.op("Div", {l.op("Sin", {safe}), safe})}));
}

void signbit(Lowering& l) {
  l.result(l.op("Less", {l.tensor(0), like(l, 0, l.dtype())}));
}

void nan_to_num(Lowering& l) {
  const DType of = l.dtype();
  if (!is_floating_point(of)) return unary<"Identity">(l);
  const double largest = of == DType::kFloat64   ? 1.7976931348623157e308
                         : of == DType::kFloat16 ? 65504.0
                                                 : 3.4028234663852886e38;
  const double nan = l.given("nan") ? l.real("nan") : 0;
  const double high = l.given("posinf") ? l.real("posinf") : largest;
  const double low = l.given("neginf") ? l.real("neginf") : -largest;
  const std::string x = l.tensor(0);
  const std::string infinite = l.op("IsInf", {x});
  const std::string positive = l.op("Greater", {x, like(l, 0, of)});
  std::string out =
      l.op("Where",
           {infinite,
            l.op("Where", {positive, like(l, high, of), like(l, low, of)}), x});
  l.result(l.op("Where", {l.op("IsNaN", {x}), like(l, nan, of), out}));
}

constexpr Row kUnaryRows[] = {
    {"abs", unary<"Abs">},
    {"neg", unary<"Neg">},
    {"negative", unary<"Neg">},
    {"exp", unary<"Exp">},
    {"log", unary<"Log">},
    {"sqrt", unary<"Sqrt">},
    {"sin", unary<"Sin">},
    {"cos", unary<"Cos">},
    {"tan", unary<"Tan">},
    {"asin", unary<"Asin">},
    {"acos", unary<"Acos">},
    {"atan", unary<"Atan">},
    {"arctan", unary<"Atan">},
    {"sinh", unary<"Sinh">},
    {"cosh", unary<"Cosh">},
    {"asinh", unary<"Asinh">},
    {"acosh", unary<"Acosh">},
    {"atanh", unary<"Atanh">},
    {"tanh", unary<"Tanh">},
    {"sigmoid", unary<"Sigmoid">},
    {"special_expit", unary<"Sigmoid">},
    {"erf", unary<"Erf">},
    {"special_erf", unary<"Erf">},
    {"erfc", erfc},
    {"sign", unary<"Sign">},
    {"sgn", unary<"Sign">},
    {"reciprocal", unary<"Reciprocal">},
    {"rsqrt", rsqrt},
    {"square", square},
    {"expm1", expm1},
    {"special_expm1", expm1},
    {"log1p", log1p},
    {"special_log1p", log1p},
    {"log2", log_of<2>},
    {"log10", log_of<10>},
    {"exp2", exp2},
    {"special_exp2", exp2},
    {"floor", rounded<"Floor">},
    {"ceil", rounded<"Ceil">},
    {"round", rounded<"Round">},
    {"trunc", trunc},
    {"fix", trunc},
    {"frac", frac},
    {"logical_not", logical_not},
    {"bitwise_not", bitwise_not},
    {"isnan", question<"IsNaN">},
    {"isinf", question<"IsInf">},
    {"isfinite", isfinite},
    {"logit", logit},
    {"special_logit", logit},
    {"deg2rad", angle<true>},
    {"rad2deg", angle<false>},
    {"sinc", sinc},
    {"special_sinc", sinc},
    {"signbit", signbit},
    {"nan_to_num", nan_to_num},
    {"positive", unary<"Identity">},
};

}  // namespace

Rows unary_rows() {
  return kUnaryRows;
}

}  // namespace hotaru::exchange::onnx_out
