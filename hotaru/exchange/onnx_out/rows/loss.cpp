// Losses and distances.
#include <cmath>

#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

std::string finished(const Lowering& l, const std::string& x) {
  return reduced(l, x, l.integer("reduction"));
}

std::string difference(const Lowering& l) {
  const DType of = l.out().dtype();
  return l.op("Sub", {l.tensor(0, of), l.tensor(1, of)});
}

void mse_loss(Lowering& l) {
  const std::string gap = difference(l);
  l.result(finished(l, l.op("Mul", {gap, gap})));
}

void l1_loss(Lowering& l) {
  l.result(finished(l, l.op("Abs", {difference(l)})));
}

// Squares near zero, lines beyond.
void rounded(Lowering& l, double delta, double inner, double outer) {
  const DType of = l.out().dtype();
  const std::string gap = l.op("Abs", {difference(l)});
  const std::string square =
      l.op("Mul", {l.op("Mul", {gap, gap}), like(l, inner, of)});
  const std::string line = l.op(
      "Mul", {l.op("Sub", {gap, like(l, delta / 2, of)}), like(l, outer, of)});
  l.result(finished(l, l.op("Where", {l.op("Less", {gap, like(l, delta, of)}),
                                      square, line})));
}

void smooth_l1_loss(Lowering& l) {
  const double beta = l.real("beta");
  if (beta == 0) return l1_loss(l);
  rounded(l, beta, 0.5 / beta, 1);
}

void huber_loss(Lowering& l) {
  const double delta = l.real("delta");
  rounded(l, delta, 0.5, delta);
}

const char* reduction(const Lowering& l) {
  const int64_t kind = l.integer("reduction");
  return kind == 0 ? "none" : kind == 1 ? "mean" : "sum";
}

Names classes(const Lowering& l, const std::string& x) {
  Names inputs = {x, l.tensor("target", DType::kInt64)};
  if (l.given("weight")) inputs.push_back(l.tensor("weight"));
  return inputs;
}

void nll_loss(Lowering& l) {
  if (l.rank() == 1) l.refuse("of a single example");
  l.result(l.op("NegativeLogLikelihoodLoss", classes(l, l.tensor(0)),
                {attr("ignore_index", l.integer("ignore_index")),
                 attr("reduction", reduction(l))}));
}

void cross_entropy(Lowering& l) {
  const DType of = l.out().dtype();
  if (l.real("label_smoothing") != 0) l.refuse("smoothed labels");
  if (is_floating_point(l.example("target").dtype())) {
    if (l.given("weight")) l.refuse("weights beside probabilities");
    const int64_t axis = l.rank() == 1 ? 0 : 1;
    const std::string log =
        l.op("LogSoftmax", {l.tensor(0)}, {attr("axis", axis)});
    const std::string sum =
        l.reduce("ReduceSum", l.op("Mul", {log, l.tensor("target", of)}),
                 {axis}, false, 13);
    return l.result(finished(l, l.op("Neg", {sum})));
  }
  if (l.rank() == 1) l.refuse("of a single example");
  l.result(l.op("SoftmaxCrossEntropyLoss", classes(l, l.tensor(0)),
                {attr("ignore_index", l.integer("ignore_index")),
                 attr("reduction", reduction(l))}));
}

void binary_cross_entropy(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const std::string y = l.tensor("target", of);
  const std::string one = like(l, 1, of);
  // Logarithms stay above -100, as PyTorch's do.
  auto log = [&](const std::string& p) {
    return l.op("Max", {l.op("Log", {p}), like(l, -100, of)});
  };
  const std::string hit = l.op("Mul", {y, log(x)});
  const std::string miss =
      l.op("Mul", {l.op("Sub", {one, y}), log(l.op("Sub", {one, x}))});
  std::string loss = l.op("Neg", {l.op("Add", {hit, miss})});
  if (l.given("weight")) loss = l.op("Mul", {loss, l.tensor("weight", of)});
  l.result(finished(l, loss));
}

void binary_cross_entropy_with_logits(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const std::string y = l.tensor("target", of);
  const std::string one = like(l, 1, of);
  // log(1 + exp(-x)), weighted, and x where the target is not one.
  std::string soft = l.op("Softplus", {l.op("Neg", {x})});
  if (l.given("pos_weight")) {
    const std::string weight =
        l.op("Add",
             {l.op("Mul", {l.op("Sub", {l.tensor("pos_weight", of), one}), y}),
              one});
    soft = l.op("Mul", {soft, weight});
  }
  std::string loss =
      l.op("Add", {l.op("Mul", {l.op("Sub", {one, y}), x}), soft});
  if (l.given("weight")) loss = l.op("Mul", {loss, l.tensor("weight", of)});
  l.result(finished(l, loss));
}

void kl_div(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const std::string y = l.tensor("target", of);
  std::string loss;
  if (l.flag("log_target")) {
    loss = l.op("Mul", {l.op("Exp", {y}), l.op("Sub", {y, x})});
  } else {
    const std::string zero = like(l, 0, of);
    const std::string each =
        l.op("Mul", {y, l.op("Sub", {l.op("Log", {y}), x})});
    loss = l.op("Where", {l.op("Greater", {y, zero}), each, zero});
  }
  l.result(finished(l, loss));
}

void cosine_similarity(Lowering& l) {
  const DType of = l.out().dtype();
  const int64_t rank = std::max(l.rank(0), l.rank(1));
  const int64_t dim = l.wrap(l.integer("dim"), rank);
  const std::string eps = like(l, l.real("eps"), of);
  auto unit = [&](int i) {
    const std::string x = l.tensor(i, of);
    const std::string length =
        l.op("Max", {l.reduce("ReduceL2", x, {dim}, true), eps});
    return l.op("Div", {x, length});
  };
  l.result(
      l.reduce("ReduceSum", l.op("Mul", {unit(0), unit(1)}), {dim}, false, 13));
}

void pairwise_distance(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string gap =
      l.op("Add", {difference(l), like(l, l.real("eps"), of)});
  l.result(norm_over(l, gap, l.real("p"), {-1}, l.flag("keepdim")));
}

void cdist(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string a = l.unsqueeze(l.tensor(0, of), {l.rank(0) - 1});
  const std::string b = l.unsqueeze(l.tensor(1, of), {l.rank(1) - 2});
  l.result(norm_over(l, l.op("Sub", {a, b}), l.real("p"), {-1}, false));
}

constexpr Row kLossRows[] = {
    {"mse_loss", mse_loss},
    {"l1_loss", l1_loss},
    {"smooth_l1_loss", smooth_l1_loss},
    {"huber_loss", huber_loss},
    {"nll_loss", nll_loss},
    {"nll_loss2d", nll_loss},
    {"nll_loss_nd", nll_loss},
    {"cross_entropy_loss", cross_entropy},
    {"binary_cross_entropy", binary_cross_entropy},
    {"binary_cross_entropy_with_logits", binary_cross_entropy_with_logits},
    {"kl_div", kl_div},
    {"cosine_similarity", cosine_similarity},
    {"pairwise_distance", pairwise_distance},
    {"cdist", cdist},
};

}  // namespace

Rows loss_rows() {
  return kLossRows;
}

}  // namespace hotaru::exchange::onnx_out
