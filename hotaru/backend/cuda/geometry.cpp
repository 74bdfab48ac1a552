#include "hotaru/backend/cuda/geometry.h"

#include <atomic>

namespace hotaru::cuda {
namespace {

constinit std::atomic<int64_t> most{kMostElements - 1};

}  // namespace

int64_t most_elements() {
  return most.load(std::memory_order_relaxed);
}

void set_most_elements(int64_t n) {
  most.store(n, std::memory_order_relaxed);
}

}  // namespace hotaru::cuda
