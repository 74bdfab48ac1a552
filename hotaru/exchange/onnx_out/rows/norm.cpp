// Normalisation.
#include "hotaru/exchange/onnx_out/rows/common.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

namespace {

// A weight that is not given: ones or zeros, one for each channel.
std::string channel(const Lowering& l, const char* name, double otherwise,
                    int64_t channels) {
  if (l.given(name)) return l.tensor(name, l.dtype());
  return l.emitter().constant(full(Dims{channels}, Scalar(otherwise),
                                   TensorOptions(l.dtype(), Device{})));
}

int64_t channels_of(const Lowering& l) {
  const std::optional<int64_t> channels = l.example(0).size(1);
  if (!channels) l.refuse("of a dynamic number of channels");
  return *channels;
}

Ints broadcast(int64_t rank) {
  Ints dims;
  for (int64_t i = 1; i < rank - 1; ++i) dims.push_back(i);
  return dims;
}

// [C] against [N, C, ...].
std::string beside(const Lowering& l, const std::string& x) {
  const Ints dims = broadcast(l.rank());
  return dims.empty() ? x : l.unsqueeze(x, dims);
}

// (x - mean) / sqrt(variance + eps) over the dimensions.
std::string standardized(const Lowering& l, const std::string& x,
                         const Ints& dims, double eps) {
  const DType of = l.dtype();
  const std::string mean = l.reduce("ReduceMean", x, dims, true);
  const std::string gap = l.op("Sub", {x, mean});
  const std::string variance =
      l.reduce("ReduceMean", l.op("Mul", {gap, gap}), dims, true);
  return l.op("Div",
              {gap, l.op("Sqrt", {l.op("Add", {variance, like(l, eps, of)})})});
}

std::string scaled(const Lowering& l, std::string y, bool channels) {
  if (l.given("weight")) {
    const std::string weight = l.tensor("weight", l.dtype());
    y = l.op("Mul", {y, channels ? beside(l, weight) : weight});
  }
  if (l.given("bias")) {
    const std::string bias = l.tensor("bias", l.dtype());
    y = l.op("Add", {y, channels ? beside(l, bias) : bias});
  }
  return y;
}

void batch_norm(Lowering& l) {
  const double eps = l.real("eps");
  const std::string x = l.tensor(0);
  if (l.flag("training") || !l.given("running_mean")) {
    // The batch's own statistics. The running ones are the module's state.
    Ints dims = iota(l.rank());
    std::erase(dims, 1);
    return l.result(scaled(l, standardized(l, x, dims, eps), true));
  }
  const int64_t channels = channels_of(l);
  l.result(l.op(
      "BatchNormalization",
      {x, channel(l, "weight", 1, channels), channel(l, "bias", 0, channels),
       l.tensor("running_mean", l.dtype()), l.tensor("running_var", l.dtype())},
      {attr("epsilon", eps)}));
}

void layer_norm(Lowering& l) {
  const Ints shape = l.integers("normalized_shape");
  const int64_t axis = l.rank() - int64_t(shape.size());
  const double eps = l.real("eps");
  const std::string x = l.tensor(0);
  if (l.opset() < 17) {
    Ints dims;
    for (int64_t i = axis; i < l.rank(); ++i) dims.push_back(i);
    return l.result(scaled(l, standardized(l, x, dims, eps), false));
  }
  Names inputs = {x};
  inputs.push_back(
      l.given("weight")
          ? l.tensor("weight", l.dtype())
          : l.emitter().constant(full(Dims(shape), Scalar(1.0),
                                      TensorOptions(l.dtype(), Device{}))));
  if (l.given("bias")) inputs.push_back(l.tensor("bias", l.dtype()));
  l.result(l.op("LayerNormalization", inputs,
                {attr("axis", axis), attr("epsilon", eps)}));
}

void rms_norm(Lowering& l) {
  const DType of = l.dtype();
  const Ints shape = l.integers("normalized_shape");
  const double eps = l.given("eps")          ? l.real("eps")
                     : of == DType::kFloat64 ? 2.220446049250313e-16
                                             : 1.1920928955078125e-07;
  Ints dims;
  for (int64_t i = l.rank() - int64_t(shape.size()); i < l.rank(); ++i)
    dims.push_back(i);
  const std::string x = l.tensor(0);
  const std::string mean =
      l.reduce("ReduceMean", l.op("Mul", {x, x}), dims, true);
  std::string y =
      l.op("Div", {x, l.op("Sqrt", {l.op("Add", {mean, like(l, eps, of)})})});
  if (l.given("weight")) y = l.op("Mul", {y, l.tensor("weight", of)});
  l.result(y);
}

void group_norm(Lowering& l) {
  const int64_t groups = l.integer("num_groups");
  const std::string x = l.tensor(0);
  const std::string flat = l.reshape(x, {0, groups, -1});
  const std::string y = standardized(l, flat, {2}, l.real("eps"));
  l.result(scaled(l, l.op("Reshape", {y, l.shape_of(x)}), true));
}

void instance_norm(Lowering& l) {
  const double eps = l.real("eps");
  if (!l.flag("use_input_stats") && l.given("running_mean")) {
    const int64_t channels = channels_of(l);
    return l.result(l.op(
        "BatchNormalization",
        {l.tensor(0), channel(l, "weight", 1, channels),
         channel(l, "bias", 0, channels), l.tensor("running_mean", l.dtype()),
         l.tensor("running_var", l.dtype())},
        {attr("epsilon", eps)}));
  }
  const int64_t channels = channels_of(l);
  l.result(l.op("InstanceNormalization",
                {l.tensor(0), channel(l, "weight", 1, channels),
                 channel(l, "bias", 0, channels)},
                {attr("epsilon", eps)}));
}

// Direction and length of a weight.
void weight_norm(Lowering& l) {
  const int64_t dim = l.integer("dim");
  const DType of = l.out().dtype();
  const std::string v = l.tensor("v", of);
  Ints dims = iota(l.rank());
  if (dim >= 0) std::erase(dims, dim);
  const std::string length = l.reduce("ReduceL2", v, dims, true);
  l.result(l.op("Mul", {v, l.op("Div", {l.tensor("g", of), length})}));
}

constexpr Row kNormRows[] = {
    {"batch_norm", batch_norm},       {"layer_norm", layer_norm},
    {"rms_norm", rms_norm},           {"group_norm", group_norm},
    {"instance_norm", instance_norm}, {"_weight_norm", weight_norm},
};

}  // namespace

Rows norm_rows() {
  return kNormRows;
}

}  // namespace hotaru::exchange::onnx_out
