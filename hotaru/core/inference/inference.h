// Inference mode: what is made in it is no part of any backward graph.
#pragma once

#include <atomic>

#include "hotaru/core/tensor.h"

namespace hotaru {

namespace detail {
// So that allocations elsewhere pay for one load and no thread's memory.
extern constinit std::atomic<int> threads_in_inference;
bool thread_in_inference();
}  // namespace detail

/// Per thread; off at first. Storages made while it is on are inference ones.
inline bool inference_mode() {
  return detail::threads_in_inference.load(std::memory_order_relaxed) > 0 &&
         detail::thread_in_inference();
}
void set_inference_mode(bool enabled);

/// The version at which storages made now start. Those of inference tensors
/// count from the upper half, which is how they are told from others.
inline constexpr uint32_t kInferenceVersion = uint32_t(1) << 31;
inline uint32_t first_version() {
  return inference_mode() ? kInferenceVersion : 0;
}

/// Tells whether the tensor's memory was made in inference mode: it has no
/// version that autograd could trust.
inline bool is_inference(const Tensor& t) {
  return t.version() >= kInferenceVersion;
}

}  // namespace hotaru
