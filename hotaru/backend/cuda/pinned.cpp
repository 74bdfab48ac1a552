#include "hotaru/backend/cuda/pinned.h"

#include <algorithm>
#include <bit>

#include "hotaru/core/error.h"
#include "hotaru/runtime/streams/uses.h"

namespace hotaru::cuda {

void* PinnedAllocator::allocate(size_t nbytes) {
  if (nbytes == 0) return nullptr;
  const size_t size = std::bit_ceil(std::max<size_t>(nbytes, 512));
  const std::lock_guard lock(mutex_);
  free_waiting();
  if (std::vector<void*>& free = free_[size]; !free.empty()) {
    void* data = free.back();
    free.pop_back();
    return data;
  }
  use(current_device());
  void* data = nullptr;
  HOTARU_CUDA(cuMemHostAlloc, &data, size, CU_MEMHOSTALLOC_PORTABLE);
  sizes_.emplace(reinterpret_cast<uintptr_t>(data), size);
  return data;
}

void PinnedAllocator::deallocate(void* data, size_t,
                                 PendingUses* uses) noexcept {
  if (!data) return;
  try {
    Waiting waiting{data, {}};
    // Queued calls of the CPU hold what they use.
    if (uses && !forked())
      for (const Ticket& ticket : static_cast<Uses*>(uses)->pending())
        waiting.tickets.push_back(ticket);
    const std::lock_guard lock(mutex_);
    if (waiting.tickets.empty())
      free_[sizes_.at(reinterpret_cast<uintptr_t>(data))].push_back(data);
    else
      waiting_.push_back(std::move(waiting));
  } catch (const Error&) {  // a lost device: nobody uses it any more
  }
}

void PinnedAllocator::free_waiting() {
  std::erase_if(waiting_, [&](const Waiting& w) {
    if (!std::all_of(w.tickets.begin(), w.tickets.end(),
                     [](const Ticket& ticket) { return ticket.done(); }))
      return false;
    free_[sizes_.at(reinterpret_cast<uintptr_t>(w.data))].push_back(w.data);
    return true;
  });
}

bool PinnedAllocator::holds(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  const std::lock_guard lock(mutex_);
  const auto after = sizes_.upper_bound(address);
  if (after == sizes_.begin()) return false;
  const auto [begin, size] = *std::prev(after);
  return address < begin + size;
}

void PinnedAllocator::release_unused() {
  const std::lock_guard lock(mutex_);
  free_waiting();
  for (auto& [size, blocks] : free_)
    for (void* data : std::exchange(blocks, {})) {
      sizes_.erase(reinterpret_cast<uintptr_t>(data));
      HOTARU_CUDA(cuMemFreeHost, data);
    }
}

PinnedAllocator& pinned_allocator() {
  static auto* made = new PinnedAllocator;
  return *made;
}

}  // namespace hotaru::cuda
