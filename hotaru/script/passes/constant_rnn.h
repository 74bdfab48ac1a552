// Recurrent layers whose weights are constants of the program.
#pragma once

#include <optional>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/script/ir/ir.h"

namespace hotaru::script {

/// An LSTM or a GRU that evaluates.
struct ConstantRnn {
  Node* node;
  /// w_ih and w_hh of each layer and direction.
  std::vector<Tensor> weights;
  /// As many biases, or none.
  std::vector<Var*> biases;
  /// The list that the node has them from.
  Node* list;
};

/// The node as such a layer: aten::lstm or gru over padded sequences, not
/// training, without projections, whose weights are constants.
std::optional<ConstantRnn> constant_rnn(Node& node);

}  // namespace hotaru::script
