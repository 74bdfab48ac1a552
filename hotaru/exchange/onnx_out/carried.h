// A variable that a loop carries from round to round.
#pragma once

#include <string>
#include <vector>

#include "hotaru/exchange/onnx_out/exporter.h"

namespace hotaru::exchange::onnx_out {

/// Knowledge of such a variable. It begins as its first value and becomes wider
/// with what a round makes of it: a constant an unknown number, a size a
/// dynamic one, a list a sequence.
class Carried {
 public:
  explicit Carried(Symbol initial);

  /// The variable in the body; adds the names of the body's inputs.
  Symbol enter(Exporter& exporter, Names& params) const;
  /// Widens it by the round's result; true if that made it wider. Throws
  /// NotImplementedError for what no variable can be.
  bool widen(const Symbol& result);
  /// The body's outputs for the round's result, and its inputs' types.
  void output(Exporter& exporter, const Symbol& result,
              io::onnx::Graph& body) const;
  void declare(const Names& params, size_t& next, io::onnx::Graph& body) const;
  /// The first value outside, and what the loop leaves.
  void start(Exporter& exporter, Names& inputs) const;
  Symbol leave(Exporter& exporter, Names& outputs) const;

 private:
  enum class Kind : uint8_t {
    kConstant,
    kTensor,
    kNumber,
    kSequence,
    kList,
    kTuple,
  };
  DType dtype() const;
  Symbol named(Exporter& exporter, const std::string& name) const;
  std::vector<Symbol> items_of(const Symbol& symbol) const;
  bool to_sequence(const Symbol& result);

  Symbol initial_;
  Kind kind_ = Kind::kConstant;
  Example example_;  // of a tensor or of a sequence's elements
  DType number_ = DType::kInt64;
  Value first_, second_;  // of a number
  std::vector<Carried> items_;
};

}  // namespace hotaru::exchange::onnx_out
