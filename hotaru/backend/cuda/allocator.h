// A device's memory: blocks that are used again in the order of their stream,
// cut from address ranges that grow by pages as long as the device has some.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "hotaru/backend/cuda/stream.h"
#include "hotaru/core/storage.h"

namespace hotaru::cuda {

/// The device's caching allocator. A freed block goes to whoever next asks on
/// the stream that it was given to, at once: the stream runs both in order. If
/// other timelines still use it, it waits for them first.
class CudaAllocator final : public Allocator {
 public:
  static constexpr size_t kRound = 512;
  static constexpr size_t kMostSmall = size_t{1} << 20;

  explicit CudaAllocator(int device);
  ~CudaAllocator() override;

  /// On the thread's current stream. Throws OutOfMemoryError with PyTorch's
  /// text.
  void* allocate(size_t nbytes) override;
  void deallocate(void* data, size_t nbytes,
                  PendingUses* uses) noexcept override;
  void copy(void* to, const void* from, size_t nbytes) override;

  /// Gives pages without blocks back to the device.
  void release_unused();
  MemoryStats stats();
  void reset_peaks();
  void reset_accumulated();
  std::vector<MemorySegment> snapshot();
  /// The timeline that memory in use was allocated for; null if it is not from
  /// here.
  Ref<StreamTimeline> owner(const void* data);
  /// A share of the device's memory, in (0, 1].
  void set_limit(double fraction);

 private:
  class Range;
  struct Block;
  struct Waiting {
    Block* block;
    std::vector<Ticket> tickets;
  };

  Range& range(StreamTimeline& timeline, MemoryPool pool);
  /// Null if there is none; with `release`, after unused pages of other ranges
  /// went back to the device.
  Block* find(StreamTimeline& timeline, size_t bytes, bool release);
  /// The same after everything that was given back is free, not under mutex_.
  /// Throws OutOfMemoryError.
  Block* find_waiting(StreamTimeline& timeline, size_t nbytes);
  void free_block(Block* block);
  /// Frees what nobody uses any more of what was given back.
  void free_done();
  /// Waits until free_done() frees all of it. Not under mutex_.
  void wait_for_users();
  void release_pages();
  [[noreturn]] void refuse(size_t bytes);

  const int device_;
  std::mutex mutex_;
  std::map<std::pair<const StreamTimeline*, MemoryPool>, std::unique_ptr<Range>>
      ranges_;
  Range* last_range_[2] = {};  // by pool
  std::unordered_map<void*, Block*> used_;
  std::list<Waiting> waiting_;
  MemoryStats stats_;
  size_t limit_;
};

/// The device's; made at first need.
CudaAllocator& allocator(int device);
/// Gives unused memory of all devices back.
void release_unused_memory();

}  // namespace hotaru::cuda
