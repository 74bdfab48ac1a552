#include "hotaru/script/passes/constant_rnn.h"

namespace hotaru::script {
namespace {

// Inputs of lstm.input and gru.input.
constexpr size_t kParams = 2, kBiases = 3, kLayers = 4, kTrain = 6,
                 kDirections = 7, kInputs = 9;

}  // namespace

std::optional<ConstantRnn> constant_rnn(Node& node) {
  if (node.kind != NodeKind::kOp || node.inputs.size() != kInputs ||
      (node.op->name() != "lstm" && node.op->name() != "gru") ||
      node.op->schema().overload != "input")
    return std::nullopt;
  const Value *biased = node.constant(kBiases), *train = node.constant(kTrain),
              *layers = node.constant(kLayers),
              *both = node.constant(kDirections);
  Node* list = node.in(kParams)->producer;
  if (!biased || !train || !layers || !both || train->as_bool() || !list ||
      list->kind != NodeKind::kList)
    return std::nullopt;
  const size_t cells = size_t(layers->as_int()) * (both->as_bool() ? 2 : 1);
  const size_t each = biased->as_bool() ? 4 : 2;
  if (list->inputs.size() != cells * each) return std::nullopt;
  ConstantRnn out{&node, {}, {}, list};
  for (size_t i = 0; i < list->inputs.size(); ++i) {
    if (i % each >= 2) {
      out.biases.push_back(list->in(i));
      continue;
    }
    const Value* weight = list->constant(i);
    if (!weight || !weight->is_tensor() || !weight->tensor_ref().defined() ||
        weight->tensor_ref().dim() != 2)
      return std::nullopt;
    out.weights.push_back(weight->tensor_ref());
  }
  return out;
}

}  // namespace hotaru::script
