#include "hotaru/runtime/threads/working_memory.h"

#include <algorithm>
#include <new>
#include <utility>

namespace hotaru {
namespace {

constexpr std::align_val_t kAlign{WorkingMemory::kAlignment};

thread_local std::unique_ptr<WorkingMemory> owned;
// The same without a look whether the other was constructed.
constinit thread_local WorkingMemory* own_memory = nullptr;

}  // namespace

void WorkingMemory::Free::operator()(std::byte* p) const {
  ::operator delete(p, kAlign);
}

void* WorkingMemory::buffer(size_t index, size_t bytes) {
  Buffer& buffer = buffers_[index];
  if (buffer.bytes < bytes || !buffer.data) {
    buffer.data.reset();  // first, so that both never exist together
    buffer.bytes = 0;
    const size_t rounded = std::max<size_t>(bytes, 4096);
    buffer.data.reset(static_cast<std::byte*>(::operator new(rounded, kAlign)));
    buffer.bytes = rounded;
  }
  return buffer.data.get();
}

WorkingMemory& WorkingMemory::here() {
  if (!own_memory) give(std::make_unique<WorkingMemory>());
  return *own_memory;
}

std::unique_ptr<WorkingMemory> WorkingMemory::take() {
  own_memory = nullptr;
  return std::move(owned);
}

void WorkingMemory::give(std::unique_ptr<WorkingMemory> memory) {
  if (!memory) return;
  owned = std::move(memory);
  own_memory = owned.get();
}

}  // namespace hotaru
