// Activations.
#include <cmath>
#include <numbers>

#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

std::string input(Lowering& l) {
  return l.tensor(0, l.out().dtype());
}

void relu(Lowering& l) {
  const DType of = l.out().dtype();
  if (l.opset() < 14 && !is_floating_point(of))
    return l.result(l.op("Max", {input(l), like(l, 0, of)}));
  l.result(l.op("Relu", {input(l)}));
}

std::string clipped(Lowering& l, const std::string& x, double low,
                    double high) {
  const DType of = l.out().dtype();
  return l.op("Clip", {x, like(l, low, of), like(l, high, of)});
}

void relu6(Lowering& l) {
  l.result(clipped(l, input(l), 0, 6));
}

void hardtanh(Lowering& l) {
  l.result(clipped(l, input(l), l.scalar("min_val").to_double(),
                   l.scalar("max_val").to_double()));
}

void leaky_relu(Lowering& l) {
  l.result(l.op("LeakyRelu", {input(l)},
                {attr("alpha", l.scalar("negative_slope").to_double())}));
}

void elu(Lowering& l) {
  const DType of = l.out().dtype();
  const double scale = l.has("scale") ? l.scalar("scale").to_double() : 1;
  const double inner =
      l.has("input_scale") ? l.scalar("input_scale").to_double() : 1;
  const double alpha = l.scalar("alpha").to_double();
  const std::string x = input(l);
  if (inner == 1) {
    const std::string y = l.op("Elu", {x}, {attr("alpha", alpha)});
    return l.result(scale == 1 ? y : l.op("Mul", {y, like(l, scale, of)}));
  }
  const std::string low = l.op(
      "Mul", {l.op("Sub", {l.op("Exp", {l.op("Mul", {x, like(l, inner, of)})}),
                           like(l, 1, of)}),
              like(l, alpha * scale, of)});
  l.result(l.op("Where", {l.op("Greater", {x, like(l, 0, of)}),
                          l.op("Mul", {x, like(l, scale, of)}), low}));
}

void celu(Lowering& l) {
  l.result(
      l.op("Celu", {input(l)}, {attr("alpha", l.scalar("alpha").to_double())}));
}

void gelu(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string kind = l.text("approximate");
  const std::string x = input(l);
  if (l.opset() >= 20)
    return l.result(l.op("Gelu", {x}, {attr("approximate", kind)}));
  std::string inner;
  if (kind == "tanh") {
    const std::string cube = l.op("Mul", {x, l.op("Mul", {x, x})});
    const std::string sum =
        l.op("Add", {x, l.op("Mul", {cube, like(l, 0.044715, of)})});
    inner = l.op(
        "Tanh",
        {l.op("Mul", {sum, like(l, std::sqrt(2 / std::numbers::pi), of)})});
  } else {
    inner = l.op("Erf", {l.op("Mul", {x, like(l, std::sqrt(0.5), of)})});
  }
  const std::string half = l.op("Mul", {x, like(l, 0.5, of)});
  l.result(l.op("Mul", {half, l.op("Add", {inner, like(l, 1, of)})}));
}

void silu(Lowering& l) {
  const std::string x = input(l);
  l.result(l.op("Mul", {x, l.op("Sigmoid", {x})}));
}

void mish(Lowering& l) {
  const std::string x = input(l);
  if (l.opset() >= 18) return l.result(l.op("Mish", {x}));
  l.result(l.op("Mul", {x, l.op("Tanh", {l.op("Softplus", {x})})}));
}

void hardsigmoid(Lowering& l) {
  l.result(l.op("HardSigmoid", {input(l)},
                {attr("alpha", 1.0 / 6), attr("beta", 0.5)}));
}

void hardswish(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = input(l);
  if (l.opset() >= 14 && of == DType::kFloat32)
    return l.result(l.op("HardSwish", {x}));
  const std::string gate = clipped(l, l.op("Add", {x, like(l, 3, of)}), 0, 6);
  l.result(l.op("Div", {l.op("Mul", {x, gate}), like(l, 6, of)}));
}

void prelu(Lowering& l) {
  std::string slope = l.tensor("weight");
  const int64_t rank = l.rank();
  if (l.example("weight").dim() == 1 && rank > 2 &&
      l.example("weight").size(0) != 1) {
    // One slope a channel, which is the second dimension.
    slope = l.unsqueeze(slope, [&] {
      Ints dims;
      for (int64_t i = 1; i < rank - 1; ++i) dims.push_back(i);
      return dims;
    }());
  }
  l.result(l.op("PRelu", {l.tensor(0), slope}));
}

template <Text kOp>
void soft(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  if (l.rank() == 0) {
    const std::string one = l.unsqueeze(x, {0});
    return l.result(l.squeeze(l.op(kOp.data, {one}, {attr("axis", 0)}), {0}));
  }
  l.result(l.op(kOp.data, {x}, {attr("axis", l.integer("dim"))}));
}

// Rows of minus infinity give zeros.
void safe_softmax(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const int64_t dim = l.integer("dim");
  const std::string y = l.op("Softmax", {x}, {attr("axis", dim)});
  const double least = -std::numeric_limits<double>::infinity();
  const std::string none = l.op(
      "Equal", {l.reduce("ReduceMax", x, {dim}, true), like(l, least, of)});
  l.result(l.op("Where", {none, like(l, 0, of), y}));
}

void softmin(Lowering& l) {
  l.result(l.op("Softmax", {l.op("Neg", {input(l)})},
                {attr("axis", l.integer("dim"))}));
}

void glu(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  std::vector<Attribute> attributes = {attr("axis", dim)};
  if (l.opset() >= 18) attributes.push_back(attr("num_outputs", 2));
  const Names halves = l.many("Split", {l.tensor(0)}, 2, attributes);
  l.result(l.op("Mul", {halves[0], l.op("Sigmoid", {halves[1]})}));
}

void softplus(Lowering& l) {
  const DType of = l.out().dtype();
  const double beta = l.scalar("beta").to_double();
  const double threshold = l.scalar("threshold").to_double();
  const std::string x = input(l);
  const std::string scaled =
      beta == 1 ? x : l.op("Mul", {x, like(l, beta, of)});
  std::string y = l.op("Softplus", {scaled});
  if (beta != 1) y = l.op("Div", {y, like(l, beta, of)});
  l.result(
      l.op("Where", {l.op("Greater", {scaled, like(l, threshold, of)}), x, y}));
}

void softshrink(Lowering& l) {
  const double lambda = l.scalar("lambd").to_double();
  l.result(l.op("Shrink", {input(l)},
                {attr("bias", lambda), attr("lambd", lambda)}));
}

void hardshrink(Lowering& l) {
  l.result(
      l.op("Shrink", {input(l)},
           {attr("bias", 0.0), attr("lambd", l.scalar("lambd").to_double())}));
}

void threshold(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = input(l);
  l.result(l.op("Where", {l.op("Greater", {x, l.tensor("threshold", of)}), x,
                          l.tensor("value", of)}));
}

void log_sigmoid(Lowering& l) {
  const std::string x = input(l);
  l.result(l.op("Neg", {l.op("Softplus", {l.op("Neg", {x})})}));
}

void tanhshrink(Lowering& l) {
  const std::string x = input(l);
  l.result(l.op("Sub", {x, l.op("Tanh", {x})}));
}

void rrelu(Lowering& l) {
  if (l.flag("training")) l.refuse("draws slopes in training mode");
  const double slope =
      (l.scalar("lower").to_double() + l.scalar("upper").to_double()) / 2;
  l.result(l.op("LeakyRelu", {input(l)}, {attr("alpha", slope)}));
}

void dropout(Lowering& l) {
  const std::string x = l.tensor(0);
  const bool train = l.given("train") && l.flag("train");
  if (!train) return l.result(l.op("Identity", {x}));
  l.result(l.op("Dropout", {x, l.number(Scalar(l.real("p")), DType::kFloat32),
                            l.number(Scalar(true), DType::kBool)}));
}

void channel_dropout(Lowering& l) {
  if (l.flag("train")) l.refuse("ONNX has no such dropout in training mode");
  l.result(l.op("Identity", {l.tensor(0)}));
}

constexpr Row kActivationRows[] = {
    {"relu", relu},
    {"relu6", relu6},
    {"hardtanh", hardtanh},
    {"leaky_relu", leaky_relu},
    {"elu", elu},
    {"selu", unary<"Selu">},
    {"celu", celu},
    {"gelu", gelu},
    {"silu", silu},
    {"mish", mish},
    {"hardsigmoid", hardsigmoid},
    {"hardswish", hardswish},
    {"prelu", prelu},
    {"_prelu_kernel", prelu},
    {"softmax", soft<"Softmax">},
    {"_softmax", soft<"Softmax">},
    {"special_softmax", soft<"Softmax">},
    {"log_softmax", soft<"LogSoftmax">},
    {"_log_softmax", soft<"LogSoftmax">},
    {"special_log_softmax", soft<"LogSoftmax">},
    {"_safe_softmax", safe_softmax},
    {"softmin", softmin},
    {"glu", glu},
    {"softplus", softplus},
    {"softsign", unary<"Softsign">},
    {"softshrink", softshrink},
    {"hardshrink", hardshrink},
    {"threshold", threshold},
    {"log_sigmoid", log_sigmoid},
    {"logsigmoid", log_sigmoid},
    {"tanhshrink", tanhshrink},
    {"rrelu", rrelu},
    {"dropout", dropout},
    {"feature_dropout", channel_dropout},
    {"alpha_dropout", channel_dropout},
    {"feature_alpha_dropout", channel_dropout},
};

}  // namespace

Rows activation_rows() {
  return kActivationRows;
}

}  // namespace hotaru::exchange::onnx_out
