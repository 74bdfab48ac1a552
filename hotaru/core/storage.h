// The bytes behind tensors.
#pragma once

#include <atomic>
#include <cstddef>

#include "hotaru/core/device.h"
#include "hotaru/core/memory/pool.h"
#include "hotaru/core/ordered.h"

namespace hotaru {

/// Gives and takes back a device's memory. Thread-safe; memory is aligned to
/// 64 bytes and uninitialised.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual void* allocate(size_t nbytes) = 0;
  /// `uses`: what streams may still do with the memory, or null. They hold
  /// what they use on the CPU; a device's allocator waits for the others
  /// before it gives the memory away.
  virtual void deallocate(void* data, size_t nbytes,
                          PendingUses* uses) noexcept = 0;
  /// Gives what it keeps for later back to the system, where it can.
  virtual void give_back() noexcept {}
  /// Copies within its memory, for Storage::resize().
  virtual void copy(void* to, const void* from, size_t nbytes);
};

/// A block of device memory that any number of tensors look into. Reading is
/// thread-safe; resizing and placing are not.
class Storage : public Ordered, public Pooled {
 public:
  /// Allocates nbytes; if deferred, when somebody first asks where they are.
  Storage(Allocator& allocator, size_t nbytes, Device device,
          bool deferred = false);
  /// Borrows memory that `owner` keeps alive (a file map, a numpy array);
  /// exposed: see below.
  Storage(void* data, size_t nbytes, Device device, Ref<RefCounted> owner,
          bool exposed = true);
  ~Storage() override;

  /// Where the bytes are. Throws if they were deferred and there is no memory.
  void* data() const {
    void* data = data_.load(std::memory_order_acquire);
    return data || !deferred_ ? data : allocate_now();
  }
  /// True while it still has to allocate its bytes.
  bool pending() const {
    return deferred_ && !data_.load(std::memory_order_acquire);
  }
  /// True if it was made to allocate late.
  bool deferred() const { return deferred_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }
  /// True if resize() works: for neither borrowed nor lent memory.
  bool resizable() const {
    return allocator_ && !lent_.load(std::memory_order_relaxed);
  }
  /// Keeps the leading bytes, once nothing is queued that uses them. Throws
  /// unless resizable.
  void resize(size_t nbytes);
  /// From now on borrows memory that `owner` keeps alive; the content is lost.
  void place(void* data, Ref<RefCounted> owner);

  /// The same with the content, where others may write it from now on (another
  /// process). What was lent stays alive as long as this object.
  void move(void* data, Ref<RefCounted> owner);

  /// Counts in-place writes, so that autograd notices when a value that it
  /// saved has changed. Every view and detached alias shares it.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }
  /// Takes back writes that were counted and never happened, to that version.
  void restore_version(uint32_t version) {
    version_.store(version, std::memory_order_relaxed);
  }

  /// True if others than kernels and host code that asks for the address each
  /// time may write the bytes: through a numpy array, a kept pointer, another
  /// process. Such writes go unseen, so nothing derived from them is kept.
  bool exposed() const { return exposed_.load(std::memory_order_relaxed); }
  /// From now on it is. For whoever hands out the address for good.
  void expose() {
    exposed_.store(true, std::memory_order_relaxed);
    wait();
  }
  /// Exposes it to somebody who keeps this object but reads the address only
  /// once (a numpy array, a DLPack capsule): the bytes have to stay there.
  void lend() {
    lent_.store(true, std::memory_order_relaxed);
    expose();
  }

  /// Object that another language keeps about this storage; it goes with the
  /// storage. Guarded by that language's lock.
  const Ref<RefCounted>& companion() const { return companion_; }
  void accompany(Ref<RefCounted> companion) {
    companion_ = std::move(companion);
  }

 private:
  void* allocate_now() const;
  void free() noexcept;

  mutable std::atomic<void*> data_;
  size_t nbytes_;
  Device device_;
  std::atomic<uint32_t> version_{0};
  bool deferred_ = false;
  std::atomic<bool> exposed_{false}, lent_{false};
  Allocator* allocator_ = nullptr;
  Ref<RefCounted> owner_, companion_;
};

}  // namespace hotaru
