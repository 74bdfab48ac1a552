#include "hotaru/core/inference/inference.h"

#include <atomic>

namespace hotaru {
namespace {

thread_local bool inference = false;
// So that allocations elsewhere pay for one load and no thread's memory.
std::atomic<int> threads_in_inference{0};

}  // namespace

bool inference_mode() {
  return threads_in_inference.load(std::memory_order_relaxed) > 0 && inference;
}

void set_inference_mode(bool enabled) {
  if (enabled == inference) return;
  inference = enabled;
  threads_in_inference.fetch_add(enabled ? 1 : -1, std::memory_order_relaxed);
}

uint32_t first_version() {
  return inference_mode() ? kInferenceVersion : 0;
}

}  // namespace hotaru
