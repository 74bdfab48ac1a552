// The bytes behind tensors.
#pragma once

#include <atomic>
#include <cstddef>

#include "hotaru/core/device.h"
#include "hotaru/core/ordered.h"

namespace hotaru {

/// Gives and takes back a device's memory. Thread-safe; memory is aligned to
/// 64 bytes and uninitialised.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual void* allocate(size_t nbytes) = 0;
  virtual void deallocate(void* data, size_t nbytes) noexcept = 0;
};

/// A block of device memory that any number of tensors look into. Reading is
/// thread-safe; resizing is not.
class Storage : public Ordered {
 public:
  /// Allocates nbytes.
  Storage(Allocator& allocator, size_t nbytes, Device device);
  /// Borrows memory that `owner` keeps alive (a file map, a numpy array).
  Storage(void* data, size_t nbytes, Device device, Ref<RefCounted> owner);
  ~Storage() override;

  static void* operator new(size_t size);
  static void operator delete(void* memory) noexcept;

  void* data() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }
  /// Whether resize() works: not for borrowed memory.
  bool resizable() const { return allocator_ != nullptr; }
  /// Keeps the leading bytes. Throws for borrowed memory.
  void resize(size_t nbytes);

  /// Counts in-place writes, so that autograd notices when a value that it
  /// saved has changed. Every view and detached alias shares it.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void* data_;
  size_t nbytes_;
  Device device_;
  std::atomic<uint32_t> version_{0};
  Allocator* allocator_ = nullptr;
  Ref<RefCounted> owner_;
};

}  // namespace hotaru
