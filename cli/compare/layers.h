// Products and convolutions of a program, each in float32 and in less.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/deviation.h"
#include "compare/precision.h"
#include "hotaru/script/program/module.h"
#include "model.h"

namespace hotaru::cli {

/// Effect of low precision on one product's result.
struct Layer {
  /// The module that holds its weight, "layers.0.up", or which of the
  /// operators without a weight it is, "matmul 3".
  std::string name;
  std::string op;      // "linear"
  std::string result;  // the result's shape, "[1, 128, 768]"
  size_t calls = 0;
  /// Stays in float32, and has no error.
  bool kept = false;
  /// Error of the call whose relative error is the largest.
  Deviation error;
};

struct LowPrecision {
  Precision precision = Precision::kFloat32;
  /// Form of weights for precisions that rewrite them (integer_weights()).
  std::optional<script::IntegerWeights> weights;
};

/// Calls the method once in float32. On the way each product and convolution
/// is computed once more, from the same float32 inputs, as a graph of the
/// precision would compute it. In the order of the program's code; those that
/// did not run are left out. `called`: how many products stand in functions
/// that could not become part of their caller, or give several results, which
/// are not looked at. Throws
/// what freeze() throws for programs that can't be frozen.
std::vector<Layer> layer_errors(const script::Module& module,
                                const ModelOptions& options,
                                const LowPrecision& low, size_t* called);

}  // namespace hotaru::cli
