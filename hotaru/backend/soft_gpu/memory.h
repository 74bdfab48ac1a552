// The memory of the devices: host pages that stay closed but while the executor
// works, so that a host that touches them crashes, full of 0xFF (a NaN) until
// somebody writes. Also which host memory is pinned.
//
// Not as on a GPU: what was written to a handle of cuMemCreate is gone once it
// is unmapped.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::soft_gpu {

inline constexpr int kMaxDevices = 16;
inline constexpr uint64_t kGranularity = 2 << 20;

/// Whose memory is open.
inline constexpr int kNobodys = -2, kEverybodys = -1;

/// Memory that a device may be allowed to see.
struct Region {
  uint64_t first;  // the first byte that the owner was given
  uint64_t end;
  uint64_t bytes;   // as counted against the device's memory
  uint64_t handle;  // 0: cuMemAlloc
  int device;
  unsigned access;  // a bit for each device
  bool open;
};

struct PinnedRange {
  uint64_t bytes;
  int device;
  bool registered;  // the memory is its registrar's
};

/// Not synchronised: the machine's lock is held around every call.
class Memory {
 public:
  explicit Memory(uint64_t bytes_of_each_device);

  uint64_t total() const { return total_; }
  uint64_t used(int device) const { return used_[device]; }

  cuda::CUresult allocate(int device, uint64_t bytes, uint64_t& address);
  cuda::CUresult free(uint64_t address);

  cuda::CUresult reserve(uint64_t bytes, uint64_t alignment, uint64_t& address);
  cuda::CUresult free_reservation(uint64_t address, uint64_t bytes);
  cuda::CUresult create(int device, uint64_t bytes, uint64_t& handle);
  cuda::CUresult release(uint64_t handle);
  cuda::CUresult map(uint64_t address, uint64_t bytes, uint64_t offset,
                     uint64_t handle);
  cuda::CUresult unmap(uint64_t address, uint64_t bytes);
  cuda::CUresult set_access(uint64_t address, uint64_t bytes, int device,
                            bool allowed);

  /// From now on `device` sees what cuMemAlloc gives and gave on `peer`.
  void allow_peer(int device, int peer);

  /// The region that holds this address, or null.
  const Region* find(uint64_t address) const;
  /// Tells whether device memory is mapped at every byte.
  bool covers(uint64_t address, uint64_t bytes) const;

  cuda::CUresult pin(uint64_t address, uint64_t bytes, int device,
                     bool registered);
  /// `registered` as it was pinned.
  cuda::CUresult unpin(uint64_t address, bool registered);
  /// The range that holds all of this, and its address; or null.
  const std::pair<const uint64_t, PinnedRange>* find_pinned(
      uint64_t address, uint64_t bytes) const;

  /// Opens what this device sees (or kEverybodys, kNobodys), closes the rest.
  void open(int whose);

 private:
  struct Handle {
    uint64_t bytes;
    int device;
    int uses;  // its owner and its mappings
  };
  struct Arena {
    uint64_t next = 0;
    std::map<uint64_t, uint64_t> holes;  // start and end of what is free
  };

  uint64_t carve(int device, uint64_t bytes);
  void give_back(int device, uint64_t start, uint64_t end);
  bool put(uint64_t start, const Region& region);
  void remove(std::map<uint64_t, Region>::iterator region);
  void drop(uint64_t handle);
  bool reserved(uint64_t address, uint64_t bytes) const;
  bool overlaps(uint64_t address, uint64_t bytes) const;

  const uint64_t total_;
  int poison_ = -1;
  uint64_t used_[kMaxDevices] = {};
  unsigned peers_[kMaxDevices];  // who sees each device's allocations
  Arena arenas_[kMaxDevices];
  std::map<uint64_t, Region> regions_;  // by their first page
  std::map<uint64_t, uint64_t> reservations_;
  std::map<uint64_t, Handle> handles_;
  uint64_t last_handle_ = 0;
  std::map<uint64_t, PinnedRange> pinned_;
  int open_for_ = kNobodys;
  bool changed_ = false;
};

}  // namespace hotaru::soft_gpu
