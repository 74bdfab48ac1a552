#include "hotaru/backend/cpu/matmul/recent_reads.h"

#include <algorithm>
#include <array>

namespace hotaru::cpu {
namespace {

struct Read {
  const void* data = nullptr;
  size_t bytes = 0;
};

constexpr size_t kCache = 2 << 20;
// The last one first.
constinit thread_local std::array<Read, 4> reads{};

}  // namespace

bool read_recently(const void* data, size_t bytes) {
  size_t total = bytes;
  auto it = reads.begin();
  while (it != reads.end() && it->data != data) total += (it++)->bytes;
  const bool found = it != reads.end() && it->bytes == bytes;
  std::move_backward(reads.begin(), it == reads.end() ? it - 1 : it,
                     it == reads.end() ? it : it + 1);
  reads.front() = {data, bytes};
  return found && total <= kCache;
}

}  // namespace hotaru::cpu
