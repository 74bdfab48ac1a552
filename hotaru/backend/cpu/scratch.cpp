#include "hotaru/backend/cpu/scratch.h"

#include <algorithm>
#include <array>
#include <memory>

namespace hotaru::detail {
namespace {

struct Free {
  void operator()(std::byte* p) const { aligned_delete(p); }
};

struct Buffer {
  std::unique_ptr<std::byte, Free> data;
  size_t bytes = 0;
};

}  // namespace

void* scratch_bytes(ScratchUse use, size_t bytes) {
  thread_local std::array<Buffer, static_cast<size_t>(ScratchUse::kCount)>
      buffers;
  Buffer& buffer = buffers[static_cast<size_t>(use)];
  if (buffer.bytes < bytes || buffer.data == nullptr) {
    buffer.data.reset();  // first, so that both never exist together
    buffer.bytes = 0;
    const size_t rounded = std::max<size_t>(bytes, 4096);
    buffer.data.reset(aligned_new<std::byte>(static_cast<int64_t>(rounded)));
    buffer.bytes = rounded;
  }
  return buffer.data.get();
}

}  // namespace hotaru::detail
