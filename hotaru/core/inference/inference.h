// Inference mode: what is made in it is no part of any backward graph.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// Per thread; off at first. Storages made while it is on are inference ones.
bool inference_mode();
void set_inference_mode(bool enabled);

/// The version at which storages made now start. Those of inference tensors
/// count from the upper half, which is how they are told from others.
uint32_t first_version();
inline constexpr uint32_t kInferenceVersion = uint32_t(1) << 31;

/// Whether the tensor's memory was made in inference mode: it has no version
/// that autograd could trust.
inline bool is_inference(const Tensor& t) {
  return t.version() >= kInferenceVersion;
}

}  // namespace hotaru
