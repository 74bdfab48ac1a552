// Products and convolutions of 8-bit integers.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

/// A zero point that ONNX wants in any case.
std::string zero(const Lowering& l, const char* name, const char* of) {
  if (l.given(name)) return l.tensor(name);
  return l.number(Scalar(0), l.example(of).dtype());
}

void matmul_integer(Lowering& l) {
  l.result(
      l.op("MatMulInteger", {l.tensor("a"), l.tensor("b"),
                             zero(l, "a_zero", "a"), zero(l, "b_zero", "b")}));
}

void qlinear_matmul(Lowering& l) {
  l.result(l.op("QLinearMatMul",
                {l.tensor("a"), l.tensor("a_scale"), zero(l, "a_zero", "a"),
                 l.tensor("b"), l.tensor("b_scale"), zero(l, "b_zero", "b"),
                 l.tensor("y_scale"), l.tensor("y_zero")}));
}

std::vector<Attribute> window(const Lowering& l) {
  Ints pads = l.integers("begin");
  const Ints ends = l.integers("end");
  pads.insert(pads.end(), ends.begin(), ends.end());
  return {attr("dilations", l.integers("dilation")),
          attr("group", l.integer("groups")), attr("pads", pads),
          attr("strides", l.integers("stride"))};
}

void conv_integer(Lowering& l) {
  l.result(l.op("ConvInteger",
                {l.tensor("x"), l.tensor("w"), zero(l, "x_zero", "x"),
                 zero(l, "w_zero", "w")},
                window(l)));
}

void qlinear_conv(Lowering& l) {
  Names inputs = {l.tensor("x"),          l.tensor("x_scale"),
                  zero(l, "x_zero", "x"), l.tensor("w"),
                  l.tensor("w_scale"),    zero(l, "w_zero", "w"),
                  l.tensor("y_scale"),    l.tensor("y_zero")};
  if (l.given("bias")) inputs.push_back(l.tensor("bias"));
  l.result(l.op("QLinearConv", inputs, window(l)));
}

void dynamic_quantize_linear(Lowering& l) {
  l.results(l.many("DynamicQuantizeLinear", {l.tensor("x")}, 3));
}

constexpr Row kQuantizedRows[] = {
    {"hotaru::dynamic_quantize_linear", dynamic_quantize_linear},
    {"hotaru::matmul_integer", matmul_integer},
    {"hotaru::qlinear_matmul", qlinear_matmul},
    {"hotaru::conv_integer", conv_integer},
    {"hotaru::qlinear_conv", qlinear_conv},
};

}  // namespace

Rows quantized_rows() {
  return kQuantizedRows;
}

}  // namespace hotaru::exchange::onnx_out
