// Linear maps and embeddings whose weights are integers of 8 or 4 bits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hotaru/script/passes/constant_products.h"
#include "hotaru/script/program/module.h"

namespace hotaru::script {

/// A weight in 8-bit integers: weight = integers * scale, with one scale.
struct QuantizedWeight {
  Tensor integers;  // int8, row-major
  Tensor scale;     // [1] float32
};

/// True if quantize_weight takes it.
bool is_quantizable(const Tensor& weight);

/// The integers and the scale that PyTorch's quantize_dynamic chooses:
///   scale = max |w| / 127.5, at least float32's epsilon
///   integer = saturate(round(w * (1 / scale)))     in float32, ties to even
/// Throws ValueError for weights that have no elements or not finite ones, or
/// are not of float32 on the CPU.
QuantizedWeight quantize_weight(const Tensor& weight);

/// Bits of weights and, of 4, the columns that share a scale (is_group_size()).
struct IntegerWeights {
  int64_t bits = 8;
  int64_t group = 32;
};

/// Form of a linear map by a constant weight in integers.
struct IntegerLinear {
  const Operator* op;
  /// Arguments of op; the first one and that of `bias` are the caller's.
  std::vector<Value> arguments;
  size_t bias;
};

/// hotaru::linear_dynamic or, of 4 bits, hotaru::linear_int4; nullopt for
/// weights that stay in floats: without elements, with numbers that are not
/// finite (group_weight.h: too large), or which no groups divide.
std::optional<IntegerLinear> integer_linear(const ConstantProduct& product,
                                            const IntegerWeights& form);

/// A module as freeze() makes it, in which linear maps by constant weights of
/// float32 (constant_product) compute as integer_linear() says: of 8 bits
/// inputs are quantised in each call, weights once, here; and embeddings of
/// constant tables as hotaru::embedding_narrow, of 4 bits in the same groups.
/// Of 8 bits recurrent layers (constant_rnn.h) are hotaru::lstm_dynamic and
/// gru_dynamic, a state quantised in each step.
/// The archive of such a module is read by hotaru alone. `counts`, if given,
/// gets what was done. Throws what freeze() throws, ValueError for other bits
/// or groups.
Module quantize_linear(const Module& module,
                       const std::vector<std::string>& preserved = {},
                       ProductCounts* counts = nullptr,
                       const IntegerWeights& form = {});

/// The same on one graph.
void quantize_linear(Graph& graph, ProductCounts* counts,
                     const IntegerWeights& form = {});

}  // namespace hotaru::script
