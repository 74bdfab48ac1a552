// Merging of what two branches give into one value.
#pragma once

#include <memory>
#include <string>

#include "hotaru/exchange/onnx_out/exporter.h"

namespace hotaru::exchange::onnx_out {

/// The type of a graph's output.
io::onnx::ValueInfo declared(const std::string& name, DType dtype,
                             bool sequence = false);
/// Throws NotImplementedError for sequences in branches and loops of opsets
/// that have none.
void check_sequences(const Emitter& emitter, bool sequence);
/// A tensor that stands for both: sizes that differ are dynamic. Throws
/// NotImplementedError for different ranks or dtypes.
Example joined(const Example& a, const Example& b);
bool same_sizes(const Example& a, const Example& b);

/// Adds outputs to both graphs of an If for what they give.
class Merger {
 public:
  Merger(Exporter& exporter, io::onnx::Graph& yes, io::onnx::Graph& no)
      : exporter_(exporter), yes_(yes), no_(no) {}

  /// Merges a and b into what holds after the If. Throws NotImplementedError
  /// where there is no such value.
  Symbol merge(const Symbol& a, const Symbol& b);
  /// The If's outputs.
  const Names& outputs() const { return outputs_; }

 private:
  std::string add(const Symbol& a, const Symbol& b, DType dtype, bool sequence);
  Symbol merge_lists(const Symbol& a, const Symbol& b);
  Symbol merge_numbers(const Symbol& a, const Symbol& b);

  Exporter& exporter_;
  io::onnx::Graph& yes_;
  io::onnx::Graph& no_;
  Names outputs_;
};

}  // namespace hotaru::exchange::onnx_out
