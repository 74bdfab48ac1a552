// An LSTM layer with its gradient in one piece: for float32 and bfloat16, where
// speed counts most. Only gradients of gradients go step by step.
#pragma once

#include "hotaru/ops/rnn/rnn_cell.h"

namespace hotaru {

/// Hidden states after each step [T, B, H], and the last state.
struct LstmSequence {
  Tensor output;
  RnnState last;
};

/// Tells whether the layer can run so: float32 or bfloat16, under autocast too,
/// on the CPU, no projection.
bool lstm_train_fits(RnnMode mode, const Tensor& x, const RnnState& state,
                     const CellWeights& weights);

/// The layer over x [T, B, I] in one direction, its gradient recorded. Gates
/// and cells are float32 in between.
LstmSequence lstm_train(bool reverse, const Tensor& x, const RnnState& state,
                        const CellWeights& weights);

}  // namespace hotaru
