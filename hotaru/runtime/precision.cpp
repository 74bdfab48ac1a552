#include "hotaru/runtime/precision.h"

#include <atomic>

namespace hotaru {
namespace {

constinit std::atomic<bool> allowed[] = {false, true};

}  // namespace

bool allows_tf32(Tf32 where) {
  return allowed[size_t(where)].load(std::memory_order_relaxed);
}

void set_allows_tf32(Tf32 where, bool allows) {
  allowed[size_t(where)].store(allows, std::memory_order_relaxed);
}

}  // namespace hotaru
