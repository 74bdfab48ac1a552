// Linear maps whose weights are 8-bit integers.
#pragma once

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

/// Whether quantize_weight takes it.
bool is_quantizable(const Tensor& weight);

/// The integers and the scale that PyTorch's quantize_dynamic chooses:
///   scale = max |w| / 127.5, at least float32's epsilon
///   integer = saturate(round(w * (1 / scale)))     in float32, ties to even
/// Throws ValueError for weights that have no elements or not finite ones, or
/// are not of float32 on the CPU.
QuantizedWeight quantize_weight(const Tensor& weight);

/// A module as freeze() makes it, in which linear maps by constant weights of
/// float32 (constant_product) compute as hotaru::linear_dynamic: inputs are
/// quantised in each call, weights once, here; the archive of such a module is
/// read by hotaru alone. Weights without elements or with numbers that are not
/// finite stay as they are. `counts`, if given, gets what was done. Throws what
/// freeze() throws.
Module quantize_linear(const Module& module,
                       const std::vector<std::string>& preserved = {},
                       ProductCounts* counts = nullptr);

/// The same on one graph.
void quantize_linear(Graph& graph, ProductCounts* counts);

}  // namespace hotaru::script
