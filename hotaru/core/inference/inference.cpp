#include "hotaru/core/inference/inference.h"

namespace hotaru {
namespace {

constinit thread_local bool inference = false;

}  // namespace

namespace detail {

constinit std::atomic<int> threads_in_inference{0};

bool thread_in_inference() {
  return inference;
}

}  // namespace detail

void set_inference_mode(bool enabled) {
  if (enabled == inference) return;
  inference = enabled;
  detail::threads_in_inference.fetch_add(enabled ? 1 : -1,
                                         std::memory_order_relaxed);
}

}  // namespace hotaru
