#include "hotaru/core/storage.h"

#include <algorithm>
#include <cstring>

#include "hotaru/core/error.h"
#include "hotaru/core/pool.h"

namespace hotaru {

Storage::Storage(Allocator& allocator, size_t nbytes, Device device)
    : data_(allocator.allocate(nbytes)),
      nbytes_(nbytes),
      device_(device),
      allocator_(&allocator) {}

Storage::Storage(void* data, size_t nbytes, Device device,
                 Ref<RefCounted> owner)
    : data_(data), nbytes_(nbytes), device_(device), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (allocator_) allocator_->deallocate(data_, nbytes_);
}

void* Storage::operator new(size_t size) {
  return BlockPool::allocate(size);
}

void Storage::operator delete(void* memory) noexcept {
  BlockPool::release(memory, sizeof(Storage));
}

void Storage::resize(size_t nbytes) {
  HOTARU_CHECK(resizable(), "Trying to resize storage that is not resizable");
  void* grown = allocator_->allocate(nbytes);
  if (const size_t kept = std::min(nbytes, nbytes_); kept > 0)
    std::memcpy(grown, data_, kept);
  allocator_->deallocate(data_, nbytes_);
  data_ = grown;
  nbytes_ = nbytes;
}

}  // namespace hotaru
