// Page-locked host memory, which devices copy from and to by themselves.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "hotaru/backend/cuda/stream.h"
#include "hotaru/core/storage.h"

namespace hotaru::cuda {

/// Blocks come in powers of two and are used again, once no stream uses them.
class PinnedAllocator final : public Allocator {
 public:
  void* allocate(size_t nbytes) override;
  void deallocate(void* data, size_t nbytes,
                  PendingUses* uses) noexcept override;

  /// Tells whether the address lies in a block of this allocator.
  bool holds(const void* data);
  /// Gives unused blocks back to the system.
  void release_unused();

 private:
  struct Waiting {
    void* data;
    std::vector<Ticket> tickets;
  };

  void free_waiting();

  std::mutex mutex_;
  std::map<uintptr_t, size_t> sizes_;          // all blocks
  std::map<size_t, std::vector<void*>> free_;  // by size
  std::vector<Waiting> waiting_;
};

PinnedAllocator& pinned_allocator();

}  // namespace hotaru::cuda
