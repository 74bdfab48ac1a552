// Recurrent layers that a device's library computes at once, with gradients.
#pragma once

#include <optional>
#include <span>

#include "hotaru/backend/common/rnn/rnn_stack.h"
#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Output, and the last state of each layer and direction; c of LSTM only.
struct StackOutput {
  Tensor y, h, c;
};

/// x [T, B, I], or [N, I] of a packed sequence; h0 and c0 [L D, B, ...]; params
/// of all these layers; they fit each other. Of `stack` mode, bidirectional,
/// has_biases, layers, packed, steps and lengths are given. Without dropout.
/// Nothing where the device has no library that takes them.
///
/// Gradients: of a forward pass that was not `train`, PyTorch's error; of
/// gradients, too.
std::optional<StackOutput> stack_by_library(RnnStack stack, const Tensor& x,
                                            const Tensor& h0, const Tensor& c0,
                                            std::span<const Tensor> params,
                                            bool train);

/// The params as the library has them, kept with the first of them until one
/// changes.
Tensor packed_weights(const RnnStack& stack, int64_t bytes,
                      std::span<const Tensor> params);

}  // namespace hotaru
