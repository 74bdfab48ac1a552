// Memory that several processes see at the same time, without a name: a file in
// memory that its last descriptor or mapping takes along, so that nothing is
// left behind whichever process is killed, and no limit of /dev/shm applies.
#pragma once

#include <cstddef>

#include "hotaru/core/tensor.h"

namespace hotaru {

/// One mapped block. Another process maps it too when it is handed the
/// descriptor (over a Unix socket, or by fork). Thread-safe.
class SharedMemory : public RefCounted {
 public:
  /// Creates at least nbytes of zeroed memory. Throws Error if the system has
  /// none, or no descriptor, left.
  static Ref<SharedMemory> create(size_t nbytes);
  /// Maps a block that another process created. Takes over the descriptor,
  /// also when it throws Error because that is not such a block.
  static Ref<SharedMemory> map(int descriptor);
  /// The block that holds an address, or null.
  static Ref<SharedMemory> find(const void* address);
  ~SharedMemory() override;

  /// Aligned to 64 bytes.
  void* data() const { return base_ + kHeader; }
  size_t nbytes() const { return size_ - kHeader; }

  /// -1 after close_descriptor(), which leaves the mapping as it is.
  int descriptor() const { return descriptor_; }
  void close_descriptor();

  /// A counter inside the block, so common to all processes: how many of them,
  /// how often, still look at the contents. A sender takes for its receiver,
  /// which gives back; a block that is idle may be written again.
  void take() const;
  void give_back() const;
  bool idle() const;

 private:
  static constexpr size_t kHeader = 64;
  struct Counter;

  SharedMemory(int descriptor, size_t size, bool filled);
  Counter& counter() const;

  char* base_ = nullptr;
  size_t size_ = 0;
  int descriptor_ = -1;
};

/// Moves a storage into a block of its own; every tensor that looks into it
/// goes along. It counts as a look, as below.
void share(Storage& storage);

/// A tensor over the block. It counts as a look at the contents until its
/// storage dies: `taken` says that the sender has counted it already. One that
/// lives while the process forks is never given back, as the child sees it as
/// well. Throws Error if the geometry reaches outside of the block.
Tensor shared_tensor(const Ref<SharedMemory>& memory, DType dtype,
                     IntSpan sizes, IntSpan strides, int64_t offset,
                     bool taken);

}  // namespace hotaru
