// One step of a recurrent network out of differentiable operators, and what
// cells and layers share.
#pragma once

#include "hotaru/backend/common/rnn/rnn.h"
#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Weights of one layer in one direction; see backend/common/rnn/rnn.h.
struct CellWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

struct RnnState {
  Tensor h, c;  // c: LSTM only
};

/// The next state from the projected input g = x w_ih^T + b_ih [B, G C].
/// Records gradients; differentiable to any order.
RnnState rnn_step(RnnMode mode, const Tensor& projected, const RnnState& state,
                  const CellWeights& weights);

/// x weight^T + bias; with autocast on, as it takes them.
Tensor projected_by(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// The whole sequence x [T, B, I] by the fused kernel, without gradients. The
/// outputs go to y, of which they are columns [offset, offset + H).
RnnState run_layer(RnnMode mode, const Tensor& y, int64_t offset, bool reverse,
                   const Tensor& x, const RnnState& state,
                   const CellWeights& weights);

/// Throws PyTorch's errors unless the sizes and the dtype of rows x [B, I], and
/// the state [B, ...], fit the weights.
void check_rnn(RnnMode mode, IntSpan x, DType dtype, const RnnState& state,
               const CellWeights& weights);

}  // namespace hotaru
