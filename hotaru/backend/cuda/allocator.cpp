#include "hotaru/backend/cuda/allocator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

#include "hotaru/core/error.h"
#include "hotaru/core/special_errors.h"
#include "hotaru/runtime/streams/uses.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda {

namespace {

size_t round_up(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

// PyTorch's way to print a size.
std::string size_text(size_t bytes) {
  char text[32];
  if (bytes <= 1024)
    std::snprintf(text, sizeof(text), "%zu bytes", bytes);
  else if (bytes <= 1048576)
    std::snprintf(text, sizeof(text), "%.2f KiB", double(bytes) / 1024);
  else if (bytes <= 1073741824)
    std::snprintf(text, sizeof(text), "%.2f MiB", double(bytes) / 1048576);
  else
    std::snprintf(text, sizeof(text), "%.2f GiB", double(bytes) / 1073741824);
  return text;
}

}  // namespace

/// Bytes [address, address + bytes) of a range; free ones are known by size.
/// Neighbours are linked, and no two neighbours are free.
struct CudaAllocator::Block {
  Block(Range* range, CUdeviceptr address, size_t bytes)
      : range(range), address(address), bytes(bytes) {}

  Range* const range;
  const CUdeviceptr address;
  size_t bytes;
  size_t requested = 0;
  bool used = false;
  Block* next_in_bin = nullptr;
  Block *before = nullptr, *after = nullptr;
};

/// Addresses for a stream's blocks of one size class. Pages are mapped from the
/// start up to mapped_; when memory is short, those at its end without blocks
/// go back. Small blocks that were given back wait, as they are, in a bin of
/// their size; only when none fits they are merged.
class CudaAllocator::Range {
 public:
  Range(int device, Ref<StreamTimeline> timeline, MemoryPool pool)
      : pool(pool), timeline(std::move(timeline)), device_(device) {
    use(device);
    HOTARU_CUDA(cuMemGetAllocationGranularity, &page_, &prop(),
                CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    reserved_ = round_up(properties(device).total_memory, page_) * 2;
    HOTARU_CUDA(cuMemAddressReserve, &base_, reserved_, 0, 0, 0);
  }
  ~Range() {
    while (Block* block = first_) {
      first_ = block->after;
      delete block;
    }
    if (!forked()) driver().cuMemAddressFree(base_, reserved_);
  }

  /// A block of that size from a bin, or null: nearly always all there is to
  /// do.
  Block* take_binned(size_t bytes) {
    if (bytes > kMostSmall) return nullptr;
    Block*& bin = bins_[bytes / kRound];
    Block* block = bin;
    if (block) bin = block->next_in_bin;
    return block;
  }

  /// The smallest free block that is large enough, cut to size, or null.
  Block* take(size_t bytes) {
    if (Block* block = take_binned(bytes)) return block;
    const auto it = free_.lower_bound(Key{bytes, 0, nullptr});
    if (it == free_.end()) return nullptr;
    Block* block = it->block;
    free_.erase(it);
    cut(block, bytes);
    block->used = true;
    return block;
  }

  /// Maps pages until the end has room for a block; false if there are none.
  bool grow(size_t bytes, size_t most) {
    const size_t at_end = last_ && !last_->used ? last_->bytes : 0;
    const size_t step = pool == MemoryPool::kSmall   ? size_t{2} << 20
                        : bytes < (size_t{10} << 20) ? size_t{20} << 20
                                                     : size_t{2} << 20;
    size_t more = round_up(bytes - at_end, std::max(step, page_));
    if (more > most) more = round_up(bytes - at_end, page_);
    if (more > most || mapped_ + more > reserved_) return false;
    CUmemGenericAllocationHandle handle = 0;
    use(device_);
    if (driver().cuMemCreate(&handle, more, &prop(), 0) != CUDA_SUCCESS)
      return false;
    const CUdeviceptr end = base_ + mapped_;
    CUmemAccessDesc access{};
    access.location = prop().location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    const bool mapped =
        driver().cuMemMap(end, more, 0, handle, 0) == CUDA_SUCCESS;
    // The mapping keeps the memory from here on.
    driver().cuMemRelease(handle);
    if (!mapped) return false;
    if (driver().cuMemSetAccess(end, more, &access, 1) != CUDA_SUCCESS) {
      driver().cuMemUnmap(end, more);
      return false;
    }
    pieces_.push_back(more);
    mapped_ += more;
    append(end, more);
    return true;
  }

  void give(Block* block) {
    if (block->bytes > kMostSmall || pool != MemoryPool::kSmall)
      return merge(block);
    Block*& bin = bins_[block->bytes / kRound];
    block->next_in_bin = bin;
    bin = block;
  }

  void merge_binned() {
    for (Block*& bin : bins_)
      while (Block* block = bin) {
        bin = block->next_in_bin;
        merge(block);
      }
  }

  void merge(Block* block) {
    block->used = false;
    if (Block* next = block->after; next && !next->used) {
      erase(next);
      join(block, next);
    }
    if (Block* previous = block->before; previous && !previous->used) {
      erase(previous);
      join(previous, block);
      block = previous;
    }
    free_.insert(key(block));
  }

  /// Gives pages at the end back that hold no block; how many bytes.
  size_t shrink() {
    merge_binned();
    size_t given = 0;
    while (!pieces_.empty() && last_ && !last_->used &&
           last_->bytes >= pieces_.back()) {
      const size_t piece = pieces_.back();
      use(device_);
      HOTARU_CUDA(cuMemUnmap, base_ + mapped_ - piece, piece);
      pieces_.pop_back();
      mapped_ -= piece;
      given += piece;
      erase(last_);
      last_->bytes -= piece;
      if (last_->bytes > 0) {
        free_.insert(key(last_));
        continue;
      }
      Block* gone = last_;
      last_ = gone->before;
      (last_ ? last_->after : first_) = nullptr;
      delete gone;
    }
    return given;
  }

  MemorySegment info() {
    merge_binned();
    MemorySegment out{base_,
                      reinterpret_cast<uint64_t>(timeline->handle()),
                      mapped_,
                      pool,
                      {}};
    for (const Block* b = first_; b; b = b->after)
      out.blocks.push_back({b->address, b->bytes, b->requested, b->used});
    return out;
  }
  size_t mapped() const { return mapped_; }

  const MemoryPool pool;
  const Ref<StreamTimeline> timeline;

 private:
  struct Key {
    size_t bytes;
    CUdeviceptr address;
    Block* block;
    bool operator<(const Key& other) const {
      return bytes != other.bytes ? bytes < other.bytes
                                  : address < other.address;
    }
  };

  const CUmemAllocationProp& prop() {
    prop_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop_.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_};
    return prop_;
  }
  static Key key(Block* b) { return {b->bytes, b->address, b}; }
  void erase(Block* b) { free_.erase(key(b)); }

  void cut(Block* block, size_t bytes) {
    if (block->bytes == bytes) return;
    auto* rest = new Block(this, block->address + bytes, block->bytes - bytes);
    rest->before = block;
    rest->after = block->after;
    (rest->after ? rest->after->before : last_) = rest;
    block->after = rest;
    block->bytes = bytes;
    free_.insert(key(rest));
  }

  void join(Block* block, Block* next) {
    block->bytes += next->bytes;
    block->after = next->after;
    (next->after ? next->after->before : last_) = block;
    delete next;
  }

  void append(CUdeviceptr address, size_t bytes) {
    auto* block = new Block(this, address, bytes);
    block->before = last_;
    (last_ ? last_->after : first_) = block;
    last_ = block;
    merge(block);
  }

  const int device_;
  CUmemAllocationProp prop_{};
  size_t page_ = 0, reserved_ = 0, mapped_ = 0;
  CUdeviceptr base_ = 0;
  std::vector<size_t> pieces_;  // as they were mapped
  std::set<Key> free_;
  std::array<Block*, kMostSmall / kRound + 1> bins_{};
  Block *first_ = nullptr, *last_ = nullptr;
};

CudaAllocator::CudaAllocator(int device)
    : device_(device), limit_(properties(device).total_memory) {}

CudaAllocator::~CudaAllocator() = default;

CudaAllocator::Range& CudaAllocator::range(StreamTimeline& timeline,
                                           MemoryPool pool) {
  Range*& last = last_range_[size_t(pool)];
  if (last && last->timeline.get() == &timeline) return *last;
  auto& slot = ranges_[{&timeline, pool}];
  if (!slot)
    slot =
        std::make_unique<Range>(device_, Ref<StreamTimeline>(&timeline), pool);
  return *(last = slot.get());
}

CudaAllocator::Block* CudaAllocator::find(StreamTimeline& timeline,
                                          size_t bytes, bool release) {
  const MemoryPool pool =
      bytes <= kMostSmall ? MemoryPool::kSmall : MemoryPool::kLarge;
  Range& from = range(timeline, pool);
  if (Block* block = from.take(bytes)) return block;
  free_done();
  from.merge_binned();
  if (Block* block = from.take(bytes)) return block;
  const auto grow = [&] {
    const size_t before = from.mapped();
    const auto reserved = size_t(stats_.reserved.all().current);
    if (!from.grow(bytes, limit_ > reserved ? limit_ - reserved : 0))
      return false;
    stats_.reserved.add(pool, int64_t(from.mapped() - before));
    stats_.segments.add(pool, 1);
    return true;
  };
  if (grow()) return from.take(bytes);
  if (!release) return nullptr;
  // Memory that others keep for themselves may be enough.
  ++stats_.retries;
  release_pages();
  return grow() ? from.take(bytes) : nullptr;
}

CudaAllocator::Block* CudaAllocator::find_waiting(StreamTimeline& timeline,
                                                  size_t nbytes) {
  const BlockingRegion region;
  wait_for_users();
  const std::lock_guard lock(mutex_);
  const size_t rounded = round_up(nbytes, kRound);
  Block* block = rounded < nbytes ? nullptr : find(timeline, rounded, true);
  if (!block) refuse(nbytes);
  return block;
}

void* CudaAllocator::allocate(size_t nbytes) {
  if (nbytes == 0) return nullptr;
  StreamTimeline& timeline = current_timeline(device_);
  use(device_);
  const size_t rounded = round_up(nbytes, kRound);
  std::unique_lock lock = blocking_lock(mutex_);
  Block* block = rounded < nbytes ? nullptr : find(timeline, rounded, false);
  if (!block) {
    lock.unlock();
    block = find_waiting(timeline, nbytes);
    lock = blocking_lock(mutex_);
  }
  block->requested = nbytes;
  const MemoryPool pool = block->range->pool;
  stats_.blocks.add(pool, 1);
  stats_.allocated.add(pool, int64_t(rounded));
  stats_.requested.add(pool, int64_t(nbytes));
  auto* data = reinterpret_cast<void*>(block->address);
  used_.emplace(data, block);
  // Memory that a program must not read shows as NaN in tests.
  if (is_soft()) {
    HOTARU_CUDA(cuMemsetD8Async, block->address, 0xff, rounded,
                timeline.handle());
    if (StreamTimeline::tracking() && !amid_launch()) {
      lock.unlock();
      timeline.count_own_work();
    }
  }
  return data;
}

void CudaAllocator::deallocate(void* data, size_t, PendingUses* uses) noexcept {
  if (!data || forked()) return;
  try {
    const std::unique_lock lock = blocking_lock(mutex_);
    const auto it = used_.find(data);
    if (it == used_.end()) return;
    Block* block = it->second;
    used_.erase(it);
    std::vector<Ticket> others;
    if (uses)
      others = static_cast<Uses*>(uses)->pending(block->range->timeline.get());
    if (others.empty())
      free_block(block);
    else
      waiting_.push_back({block, std::move(others)});
  } catch (const Error&) {  // a lost device: its memory is lost, too
  }
}

Ref<StreamTimeline> CudaAllocator::owner(const void* data) {
  const std::unique_lock lock = blocking_lock(mutex_);
  const auto it = used_.find(const_cast<void*>(data));
  return it == used_.end() ? nullptr : it->second->range->timeline;
}

void CudaAllocator::free_block(Block* block) {
  const MemoryPool pool = block->range->pool;
  stats_.blocks.remove(pool, 1);
  stats_.allocated.remove(pool, int64_t(block->bytes));
  stats_.requested.remove(pool, int64_t(block->requested));
  block->range->give(block);
}

void CudaAllocator::free_done() {
  std::erase_if(waiting_, [&](Waiting& w) {
    for (const Ticket& ticket : w.tickets)
      if (!ticket.done()) return false;
    free_block(w.block);
    return true;
  });
}

void CudaAllocator::wait_for_users() {
  std::vector<Ticket> users;
  {
    const std::lock_guard lock(mutex_);
    for (const Waiting& w : waiting_)
      users.insert(users.end(), w.tickets.begin(), w.tickets.end());
  }
  for (const Ticket& ticket : users) {
    auto* cuda = dynamic_cast<StreamTimeline*>(ticket.timeline.get());
    // Work that is not on its device yet may itself wait for the kernel that
    // asks.
    if (amid_launch() && !(cuda && cuda->launched(ticket.number))) continue;
    // Findings of kernels are for those who wait for their results.
    if (cuda)
      cuda->wait_until_done(ticket.number);
    else
      ticket.timeline->wait_for(ticket.number);
  }
}

void CudaAllocator::release_pages() {
  // Work may still use what was freed in its stream's order.
  use(device_);
  HOTARU_CUDA(cuCtxSynchronize);
  for (auto& [key, range] : ranges_)
    if (const size_t given = range->shrink())
      stats_.reserved.remove(range->pool, int64_t(given));
}

void CudaAllocator::release_unused() {
  const BlockingRegion region;
  wait_for_users();
  const std::lock_guard lock(mutex_);
  free_done();
  release_pages();
}

void CudaAllocator::copy(void* to, const void* from, size_t nbytes) {
  StreamTimeline& timeline = current_timeline(device_);
  use(device_);
  HOTARU_CUDA(cuMemcpyDtoDAsync, reinterpret_cast<CUdeviceptr>(to),
              reinterpret_cast<CUdeviceptr>(from), nbytes, timeline.handle());
  // The old block goes back to its own stream, which may be another one.
  timeline.synchronize();
}

void CudaAllocator::refuse(size_t bytes) {
  ++stats_.out_of_memory;
  size_t free = 0, total = 0;
  memory_info(device_, free, total);
  const auto allocated = size_t(stats_.allocated.all().current);
  const auto reserved = size_t(stats_.reserved.all().current);
  const std::string limit =
      limit_ < total ? concat(size_text(limit_), " allowed; ") : std::string();
  fail<OutOfMemoryError>(
      "CUDA out of memory. Tried to allocate ", size_text(bytes), ". GPU ",
      device_, " has a total capacity of ", size_text(total), " of which ",
      size_text(free), " is free. ", limit, "Of the allocated memory ",
      size_text(allocated), " is allocated by PyTorch, and ",
      size_text(reserved - allocated),
      " is reserved by PyTorch but unallocated.");
}

MemoryStats CudaAllocator::stats() {
  const std::unique_lock lock = blocking_lock(mutex_);
  return stats_;
}

namespace {

template <class F>
void for_counts(MemoryStats& s, const F& f) {
  for (MemoryCounts* counts :
       {&s.blocks, &s.segments, &s.allocated, &s.reserved, &s.requested})
    for (MemoryCount& count : counts->of) f(count);
}

}  // namespace

void CudaAllocator::reset_peaks() {
  const std::unique_lock lock = blocking_lock(mutex_);
  for_counts(stats_, [](MemoryCount& c) { c.peak = c.current; });
}

void CudaAllocator::reset_accumulated() {
  const std::unique_lock lock = blocking_lock(mutex_);
  for_counts(stats_, [](MemoryCount& c) { c.allocated = c.freed = 0; });
  stats_.retries = stats_.out_of_memory = 0;
}

std::vector<MemorySegment> CudaAllocator::snapshot() {
  const std::unique_lock lock = blocking_lock(mutex_);
  std::vector<MemorySegment> out;
  for (const auto& [key, range] : ranges_)
    if (range->mapped() > 0) out.push_back(range->info());
  return out;
}

void CudaAllocator::set_limit(double fraction) {
  const std::unique_lock lock = blocking_lock(mutex_);
  limit_ = size_t(fraction * double(properties(device_).total_memory));
}

namespace {

std::array<std::atomic<CudaAllocator*>, kMostDevices>& table() {
  static auto* made = new std::array<std::atomic<CudaAllocator*>, kMostDevices>;
  return *made;
}

}  // namespace

CudaAllocator& allocator(int device) {
  std::atomic<CudaAllocator*>& slot = table()[size_t(device)];
  if (CudaAllocator* made = slot.load(std::memory_order_acquire)) [[likely]]
    return *made;
  auto* made = new CudaAllocator(device);
  CudaAllocator* none = nullptr;
  if (slot.compare_exchange_strong(none, made)) return *made;
  delete made;
  return *none;
}

void release_unused_memory() {
  for (const auto& slot : table())
    if (CudaAllocator* made = slot.load()) made->release_unused();
}

}  // namespace hotaru::cuda
