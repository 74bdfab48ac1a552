// Parameters of the kernels of connectionist temporal classification.
#pragma once

#include <cstdint>
#include <vector>

namespace hotaru {

/// log_probs is [steps, batch, classes]; sequence n has input_lengths[n] steps
/// and the labels [offsets[n], offsets[n] + target_lengths[n]) of targets
/// (int64). Operands of "ctc_loss": write losses [batch], write log_alpha
/// [batch, steps, 2 longest + 1], read log_probs, read targets; of
/// "ctc_loss_grad": write gradient (as log_probs), read g [batch], read
/// log_probs, read targets, read losses, read log_alpha.
/// A label outside the classes is an error, found when the kernel runs.
struct CtcAttributes {
  int64_t steps = 0, batch = 0, classes = 0, longest = 0, blank = 0;
  std::vector<int64_t> input_lengths, target_lengths, offsets;
  /// Sequences of infinite loss have no gradient.
  bool zero_infinity = false;
};

}  // namespace hotaru
