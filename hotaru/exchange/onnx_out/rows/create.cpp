// Tensors out of nothing, and random ones.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

// The result's shape: what is known as a constant, else as the program says.
std::string shape(const Lowering& l) {
  Ints sizes;
  for (int64_t i = 0; i < l.out().dim(); ++i) {
    const std::optional<int64_t> size = l.out().size(i);
    if (!size) break;
    sizes.push_back(*size);
  }
  if (int64_t(sizes.size()) == l.out().dim()) return l.ints(sizes);
  if (l.has("size")) return l.shape("size");
  return l.shape_of(l.tensor(0));
}

template <int kNumber>
void filled_with(Lowering& l) {
  l.result(filled(l, like(l, kNumber, l.out().dtype()), shape(l)));
}

void full(Lowering& l) {
  l.result(filled(l, l.tensor("fill_value", l.out().dtype()), shape(l)));
}

void fill(Lowering& l) {
  l.result(filled(l, l.tensor("value", l.dtype()), l.shape_of(l.tensor(0))));
}

void zero(Lowering& l) {
  l.result(filled(l, like(l, 0, l.dtype()), l.shape_of(l.tensor(0))));
}

void arange(Lowering& l) {
  const DType of = l.out().dtype();
  // Range has no half precision.
  const DType in =
      of == DType::kFloat16 || of == DType::kBFloat16 ? DType::kFloat32 : of;
  const std::string begin =
      l.has("start") ? l.tensor("start", in) : like(l, 0, in);
  const std::string step =
      l.has("step") ? l.tensor("step", in) : like(l, 1, in);
  l.result(l.cast(l.op("Range", {begin, l.tensor("end", in), step}), in, of));
}

void eye(Lowering& l) {
  const DType of = l.out().dtype();
  // Both dimensions are said by themselves where a size varies.
  const bool known = l.out().size(0) && l.out().size(1);
  const std::string n = l.unsqueeze(l.tensor("n", DType::kInt64), {0});
  const std::string m =
      l.has("m") ? l.unsqueeze(l.tensor("m", DType::kInt64), {0}) : n;
  const std::string sizes =
      known ? shape(l) : l.op("Concat", {n, m}, {attr("axis", 0)});
  const std::string zeros = filled(l, like(l, 0, of), sizes);
  l.result(
      l.op("EyeLike", {zeros}, {attr("dtype", io::onnx::data_type_of(of))}));
}

void scalar_tensor(Lowering& l) {
  l.result(l.tensor(0, l.out().dtype()));
}

void one_hot(Lowering& l) {
  const int64_t classes = l.integer("num_classes");
  if (classes < 0) l.refuse("without the number of classes");
  const std::string values =
      l.op("Concat", {l.ints({0}), l.ints({1})}, {attr("axis", 0)});
  // ONNX Runtime takes no number without dimensions.
  const bool point = l.rank() == 0;
  const std::string x = point ? l.unsqueeze(l.tensor(0), {0}) : l.tensor(0);
  const std::string y =
      l.op("OneHot", {x, l.ints({classes}), values}, {attr("axis", -1)});
  l.result(point ? l.squeeze(y, {0}) : y);
}

// A tensor whose shape a random operator is to have.
std::string model(const Lowering& l) {
  return filled(l, like(l, 0, l.out().dtype()), shape(l));
}

Attribute dtype(const Lowering& l) {
  return attr("dtype", io::onnx::data_type_of(l.out().dtype()));
}

void rand(Lowering& l) {
  l.result(l.op("RandomUniformLike", {model(l)}, {dtype(l)}));
}

void randn(Lowering& l) {
  l.result(l.op("RandomNormalLike", {model(l)}, {dtype(l)}));
}

void uniform(Lowering& l) {
  l.result(l.op("RandomUniformLike", {l.tensor(0)},
                {attr("low", l.real("from")), attr("high", l.real("to"))}));
}

void normal(Lowering& l) {
  l.result(l.op("RandomNormalLike", {l.tensor(0)},
                {attr("mean", l.real("mean")), attr("scale", l.real("std"))}));
}

void randint(Lowering& l) {
  const std::string low = l.given("low") ? l.tensor("low", DType::kFloat32)
                                         : like(l, 0, DType::kFloat32);
  const std::string high = l.tensor("high", DType::kFloat32);
  const std::string unit = l.op(
      "RandomUniformLike", {filled(l, like(l, 0, DType::kFloat32), shape(l))},
      {attr("dtype", 1)});
  const std::string wide = l.op("Mul", {unit, l.op("Sub", {high, low})});
  l.result(l.cast(l.op("Floor", {l.op("Add", {wide, low})}), DType::kFloat32,
                  l.out().dtype()));
}

void bernoulli(Lowering& l) {
  if (l.opset() < 15) l.refuse("needs opset 15");
  std::string p = l.tensor(0);
  if (l.given("p")) p = filled(l, l.tensor("p", l.dtype()), l.shape_of(p));
  l.result(l.op("Bernoulli", {p}, {dtype(l)}));
}

// Numbers of the host as a tensor: tensor(x), tensor([x, y]).
void tensor(Lowering& l) {
  const DType of = l.out().dtype();
  const Symbol& data = l.at(0);
  if (data.is_sequence()) l.refuse("of a list whose length depends on inputs");
  if (!data.is_list()) {
    const std::string x = l.tensor(0, of);
    return l.result(data.is_tensor() ? l.op("Identity", {x}) : x);
  }
  Names parts;
  for (const Symbol& item : data.items()) {
    if (item.is_list()) l.refuse("of nested lists that depend on inputs");
    parts.push_back(l.unsqueeze(l.tensor(item, of), {0}));
  }
  l.result(l.op("Concat", parts, {attr("axis", 0)}));
}

void linspace(Lowering& l) {
  const DType of = l.out().dtype();
  const int64_t steps = l.integer("steps");
  const std::string begin = l.tensor("start", of);
  const std::string way = l.op("Sub", {l.tensor("end", of), begin});
  const std::string at = l.op(
      "Range", {like(l, 0, of), like(l, double(steps), of), like(l, 1, of)});
  const std::string part =
      l.op("Div", {at, like(l, double(std::max<int64_t>(steps - 1, 1)), of)});
  l.result(l.op("Add", {begin, l.op("Mul", {way, part})}));
}

constexpr Row kCreateRows[] = {
    {"zeros", filled_with<0>},
    {"zeros_like", filled_with<0>},
    {"new_zeros", filled_with<0>},
    {"empty", filled_with<0>},
    {"empty_like", filled_with<0>},
    {"new_empty", filled_with<0>},
    {"ones", filled_with<1>},
    {"ones_like", filled_with<1>},
    {"new_ones", filled_with<1>},
    {"full", full},
    {"full_like", full},
    {"new_full", full},
    {"fill", fill},
    {"zero", zero},
    {"arange", arange},
    {"linspace", linspace},
    {"eye", eye},
    {"scalar_tensor", scalar_tensor},
    {"scalar_to_tensor", scalar_tensor},
    {"NumToTensor", scalar_tensor},
    {"tensor", tensor},
    {"as_tensor", tensor},
    {"one_hot", one_hot},
    {"rand", rand},
    {"rand_like", rand},
    {"randn", randn},
    {"randn_like", randn},
    {"randint", randint},
    {"randint_like", randint},
    {"uniform", uniform},
    {"normal_", normal},
    {"bernoulli", bernoulli},
};

}  // namespace

Rows create_rows() {
  return kCreateRows;
}

}  // namespace hotaru::exchange::onnx_out
