#include "hotaru/backend/soft_gpu/memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

using namespace hotaru::cuda;

namespace hotaru::soft_gpu {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kAlignment = 512;  // of cuMemAlloc
// Whole slabs up to this size are huge pages, which open and close in 2 us
// where the same in small pages takes 150.
constexpr uint64_t kMostHuge = 64 << 20;

constexpr uint64_t round_up(uint64_t n, uint64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// The kernel's own calls: sanitizers need not know of device memory, and would
// write shadows for ranges that nobody ever fills.
uint64_t map_pages(uint64_t address, uint64_t bytes, int protection, int flags,
                   int file) {
  const long result =
      syscall(SYS_mmap, address, bytes, protection, flags, file, 0L);
  return result == -1 ? 0 : uint64_t(result);
}

uint64_t close_pages(uint64_t address, uint64_t bytes) {
  return map_pages(address, bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                       (address != 0 ? MAP_FIXED : 0),
                   -1);
}

void unmap_pages(uint64_t address, uint64_t bytes) {
  if (bytes != 0) syscall(SYS_munmap, address, bytes);
}

bool protect(uint64_t start, uint64_t end, bool open) {
  return syscall(SYS_mprotect, start, end - start,
                 open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

/// Closed memory full of 0xFF, in huge pages if the machine has them.
bool put_huge(uint64_t address, uint64_t bytes) {
  if (bytes % kGranularity != 0 ||
      map_pages(address, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1) == 0)
    return false;
  void* memory = reinterpret_cast<void*>(address);
  if (madvise(memory, bytes, MADV_HUGEPAGE) != 0) return false;
  std::memset(memory, 0xFF, bytes);
  return protect(address, address + bytes, false);
}

/// A file of 0xFF. Other memory is private copies of it, so that poison costs
/// pages only where somebody writes.
int make_poison() {
  const int file = memfd_create("hotaru_soft_gpu", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, kGranularity) != 0) return -1;
  const uint64_t page =
      map_pages(0, kGranularity, PROT_READ | PROT_WRITE, MAP_SHARED, file);
  if (page == 0) return -1;
  std::memset(reinterpret_cast<void*>(page), 0xFF, kGranularity);
  unmap_pages(page, kGranularity);
  return file;
}

}  // namespace

Memory::Memory(uint64_t bytes_of_each_device)
    : total_(bytes_of_each_device), poison_(make_poison()) {
  for (int i = 0; i < kMaxDevices; ++i) peers_[i] = 1u << i;
}

bool Memory::put(uint64_t start, const Region& region) {
  if (start % kGranularity == 0 && region.end - start <= kMostHuge &&
      put_huge(start, region.end - start)) {
    regions_.emplace(start, region);
    changed_ = true;
    return true;
  }
  for (uint64_t at = start; at < region.end; at += kGranularity) {
    const uint64_t bytes = std::min(kGranularity, region.end - at);
    if (poison_ < 0 || map_pages(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_FIXED,
                                 poison_) == 0) {
      close_pages(start, region.end - start);
      return false;
    }
  }
  regions_.emplace(start, region);
  changed_ = true;
  return true;
}

void Memory::remove(std::map<uint64_t, Region>::iterator region) {
  close_pages(region->first, region->second.end - region->first);
  regions_.erase(region);
}

uint64_t Memory::carve(int device, uint64_t bytes) {
  Arena& arena = arenas_[device];
  // Memory that was freed is used again as late as possible, so that a stale
  // pointer meets closed pages.
  for (int round = 0; round < 3; ++round) {
    auto hole = arena.holes.lower_bound(round == 1 ? 0 : arena.next);
    for (; hole != arena.holes.end(); ++hole) {
      const auto [start, end] = *hole;
      if (end - start < bytes) continue;
      arena.holes.erase(hole);
      if (end - start > bytes) arena.holes.emplace(start + bytes, end);
      arena.next = start + bytes;
      return start;
    }
    if (round != 1) continue;
    const uint64_t more = std::max(uint64_t{64} << 30, 4 * total_);
    const uint64_t start = close_pages(0, more);
    if (start == 0) return 0;
    arena.holes.emplace(start, start + more);
    arena.next = start;
  }
  return 0;
}

void Memory::give_back(int device, uint64_t start, uint64_t end) {
  auto& holes = arenas_[device].holes;
  const auto after = holes.lower_bound(start);
  if (after != holes.end() && after->first == end) {
    end = after->second;
    holes.erase(after);
  }
  auto before = holes.lower_bound(start);
  if (before != holes.begin() && (--before)->second == start)
    before->second = end;
  else
    holes.emplace(start, end);
}

CUresult Memory::allocate(int device, uint64_t bytes, uint64_t& address) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > total_) return CUDA_ERROR_OUT_OF_MEMORY;
  const uint64_t pages = round_up(bytes, kPage);
  if (pages > total_ - used_[device]) return CUDA_ERROR_OUT_OF_MEMORY;
  // A closed page follows, and the memory ends as near to it as it can.
  const uint64_t start = carve(device, pages + kPage);
  if (start == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  const uint64_t end = start + pages;
  address = end - round_up(bytes, kAlignment);
  if (!put(start, {address, end, pages, 0, device, peers_[device], false})) {
    give_back(device, start, end + kPage);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  used_[device] += pages;
  return CUDA_SUCCESS;
}

CUresult Memory::free(uint64_t address) {
  auto region = regions_.upper_bound(address);
  if (region == regions_.begin()) return CUDA_ERROR_INVALID_VALUE;
  const auto [start, found] = *--region;
  if (found.first != address || found.handle != 0)
    return CUDA_ERROR_INVALID_VALUE;
  used_[found.device] -= found.bytes;
  remove(region);
  give_back(found.device, start, found.end + kPage);
  return CUDA_SUCCESS;
}

CUresult Memory::reserve(uint64_t bytes, uint64_t alignment,
                         uint64_t& address) {
  if (bytes == 0 || bytes % kGranularity != 0 ||
      (alignment & (alignment - 1)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  alignment = std::max(alignment, kGranularity);
  const uint64_t start = close_pages(0, bytes + alignment);
  if (start == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  address = round_up(start, alignment);
  unmap_pages(start, address - start);
  unmap_pages(address + bytes, start + alignment - address);
  reservations_.emplace(address, bytes);
  return CUDA_SUCCESS;
}

CUresult Memory::free_reservation(uint64_t address, uint64_t bytes) {
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != bytes ||
      overlaps(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  reservations_.erase(found);
  unmap_pages(address, bytes);
  return CUDA_SUCCESS;
}

bool Memory::reserved(uint64_t address, uint64_t bytes) const {
  auto found = reservations_.upper_bound(address);
  if (found == reservations_.begin()) return false;
  --found;
  return address - found->first <= found->second &&
         bytes <= found->second - (address - found->first);
}

bool Memory::overlaps(uint64_t address, uint64_t bytes) const {
  const auto after = regions_.lower_bound(address + bytes);
  return after != regions_.begin() && std::prev(after)->second.end > address;
}

CUresult Memory::create(int device, uint64_t bytes, uint64_t& handle) {
  if (bytes == 0 || bytes % kGranularity != 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > total_ || bytes > total_ - used_[device])
    return CUDA_ERROR_OUT_OF_MEMORY;
  used_[device] += bytes;
  handle = ++last_handle_;
  handles_.emplace(handle, Handle{bytes, device, 1});
  return CUDA_SUCCESS;
}

void Memory::drop(uint64_t handle) {
  const auto found = handles_.find(handle);
  if (--found->second.uses != 0) return;
  used_[found->second.device] -= found->second.bytes;
  handles_.erase(found);
}

CUresult Memory::release(uint64_t handle) {
  if (!handles_.contains(handle)) return CUDA_ERROR_INVALID_VALUE;
  drop(handle);
  return CUDA_SUCCESS;
}

CUresult Memory::map(uint64_t address, uint64_t bytes, uint64_t offset,
                     uint64_t handle) {
  const auto found = handles_.find(handle);
  if (found == handles_.end() || offset != 0 || bytes != found->second.bytes ||
      address % kGranularity != 0 || !reserved(address, bytes) ||
      overlaps(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  const Region region{
      address, address + bytes, bytes, handle, found->second.device, 0, false};
  if (!put(address, region)) return CUDA_ERROR_OUT_OF_MEMORY;
  ++found->second.uses;
  return CUDA_SUCCESS;
}

CUresult Memory::unmap(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes;
  for (uint64_t at = address; at < end;) {
    const auto region = regions_.find(at);
    if (region == regions_.end() || region->second.handle == 0 ||
        region->second.end > end)
      return CUDA_ERROR_INVALID_VALUE;
    at = region->second.end;
  }
  while (address < end) {
    const auto region = regions_.find(address);
    address = region->second.end;
    const uint64_t handle = region->second.handle;
    remove(region);
    drop(handle);
  }
  return CUDA_SUCCESS;
}

CUresult Memory::set_access(uint64_t address, uint64_t bytes, int device,
                            bool allowed) {
  if (!covers(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t end = address + bytes;
  for (auto region = regions_.lower_bound(address);
       region != regions_.end() && region->first < end; ++region) {
    unsigned& access = region->second.access;
    access = allowed ? access | 1u << device : access & ~(1u << device);
  }
  changed_ = true;
  return CUDA_SUCCESS;
}

void Memory::allow_peer(int device, int peer) {
  peers_[peer] |= 1u << device;
  for (auto& [start, region] : regions_)
    if (region.handle == 0 && region.device == peer)
      region.access = peers_[peer];
  changed_ = true;
}

const Region* Memory::find(uint64_t address) const {
  auto region = regions_.upper_bound(address);
  if (region == regions_.begin()) return nullptr;
  const Region& found = (--region)->second;
  return address >= found.first && address < found.end ? &found : nullptr;
}

bool Memory::covers(uint64_t address, uint64_t bytes) const {
  const uint64_t end = address + bytes;
  if (end < address) return false;
  while (address < end) {
    const Region* region = find(address);
    if (!region) return false;
    address = region->end;
  }
  return true;
}

CUresult Memory::pin(uint64_t address, uint64_t bytes, int device,
                     bool registered) {
  const auto after = pinned_.lower_bound(address + bytes);
  if (after != pinned_.begin()) {
    const auto& [start, range] = *std::prev(after);
    if (start + range.bytes > address)
      return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  pinned_.emplace(address, PinnedRange{bytes, device, registered});
  return CUDA_SUCCESS;
}

CUresult Memory::unpin(uint64_t address, bool registered) {
  const auto found = pinned_.find(address);
  if (found == pinned_.end() || found->second.registered != registered) {
    return registered ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                      : CUDA_ERROR_INVALID_VALUE;
  }
  pinned_.erase(found);
  return CUDA_SUCCESS;
}

const std::pair<const uint64_t, PinnedRange>* Memory::find_pinned(
    uint64_t address, uint64_t bytes) const {
  auto found = pinned_.upper_bound(address);
  if (found == pinned_.begin()) return nullptr;
  --found;
  const uint64_t before = address - found->first;
  if (before >= found->second.bytes || bytes > found->second.bytes - before)
    return nullptr;
  return &*found;
}

void Memory::open(int whose) {
  if (whose == open_for_ && !changed_) return;
  for (auto& [start, region] : regions_) {
    const bool open = whose == kEverybodys ? region.access != 0
                      : whose >= 0         ? region.access >> whose & 1
                                           : false;
    if (open != region.open && protect(start, region.end, open))
      region.open = open;
  }
  open_for_ = whose;
  changed_ = false;
}

}  // namespace hotaru::soft_gpu
