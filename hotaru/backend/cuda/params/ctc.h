// Parameters of connectionist temporal classification, and how it is launched,
// for up to CtcParams::kMost sequences at a time; see common/loss/ctc.h.
//
//   CtcForward_<suffix>     losses and log_alpha
//     grid  a block for each sequence
//   CtcBackward_<suffix>    beta and links
//     grid  a block for each sequence
//   CtcGrad_<suffix>        gradient, of these
//     grid  [steps, sequences]
//   parameters   CtcParams
//   block        kBlock
//   shared       none at launch; threads of a block wait for each other
#pragma once

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"

namespace hotaru::cuda {

struct CtcSequence {
  int32_t steps = 0, labels = 0;
  /// Offset of its first label in targets.
  int64_t offset = 0;
};

struct CtcParams {
  static constexpr int kMost = 224;

  void *losses = nullptr, *gradient = nullptr;
  /// [batch, steps, width]
  void* log_alpha = nullptr;
  /// As log_alpha, of these sequences only.
  void* log_beta = nullptr;
  /// [sequences, longest]: see device/loss/ctc.cu.
  int32_t* links = nullptr;
  const void *log_probs = nullptr, *grad = nullptr;
  const int64_t* targets = nullptr;
  int64_t steps = 0, batch = 0, classes = 0, longest = 0, blank = 0;
  bool zero_infinity = false;
  ErrorSink errors;
  /// The place of the first one in the batch.
  int64_t first = 0;
  CtcSequence sequences[kMost];

  constexpr int64_t width() const { return 2 * longest + 1; }
};

}  // namespace hotaru::cuda
