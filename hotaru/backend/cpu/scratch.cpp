#include "hotaru/backend/cpu/scratch.h"

#include "hotaru/runtime/threads/working_memory.h"

namespace hotaru::detail {

void* scratch_bytes(ScratchUse use, size_t bytes) {
  static_assert(size_t(ScratchUse::kCount) <= WorkingMemory::kBuffers);
  static_assert(size_t(kScratchAlignment) == WorkingMemory::kAlignment);
  return WorkingMemory::here().buffer(size_t(use), bytes);
}

}  // namespace hotaru::detail
