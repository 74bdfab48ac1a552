#include "hotaru/core/storage.h"

#include <algorithm>
#include <cstring>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/inference/inference.h"
#include "hotaru/core/memory_watch.h"

namespace hotaru {
namespace detail {

constinit std::atomic<MemoryWatch> memory_watch{nullptr};

}  // namespace detail

namespace {

int64_t signed_size(size_t nbytes) {
  return static_cast<int64_t>(nbytes);
}

void* taken(Allocator& allocator, size_t nbytes, Device device) {
  void* data = allocator.allocate(nbytes);
  detail::tell_memory(data, signed_size(nbytes), device);
  return data;
}

}  // namespace

void Allocator::copy(void* to, const void* from, size_t nbytes) {
  std::memcpy(to, from, nbytes);
}

Storage::Storage(Allocator& allocator, size_t nbytes, Device device,
                 bool deferred)
    : data_(deferred ? nullptr : taken(allocator, nbytes, device)),
      nbytes_(nbytes),
      device_(device),
      version_(first_version()),
      deferred_(deferred && nbytes > 0),
      allocator_(&allocator) {}

Storage::Storage(void* data, size_t nbytes, Device device,
                 Ref<RefCounted> owner, bool exposed)
    : data_(data),
      nbytes_(nbytes),
      device_(device),
      version_(first_version()),
      exposed_(exposed),
      owner_(std::move(owner)) {}

Storage::~Storage() {
  free();
}

void Storage::free() noexcept {
  void* data = data_.load(std::memory_order_relaxed);
  if (!allocator_ || !data) return;
  detail::tell_memory(data, -signed_size(nbytes_), device_);
  allocator_->deallocate(data, nbytes_, uses());
}

void* Storage::allocate_now() const {
  void* made = allocator_->allocate(nbytes_);
  void* data = nullptr;
  // Two threads that read the same memory may come here at once.
  if (data_.compare_exchange_strong(data, made, std::memory_order_acq_rel)) {
    detail::tell_memory(made, signed_size(nbytes_), device_);
    return made;
  }
  allocator_->deallocate(made, nbytes_, nullptr);
  return data;
}

void Storage::resize(size_t nbytes) {
  HOTARU_CHECK(resizable(), "Trying to resize storage that is not resizable");
  wait();
  void* grown = taken(*allocator_, nbytes, device_);
  if (const size_t kept = std::min(nbytes, nbytes_); kept > 0)
    allocator_->copy(grown, data(), kept);
  free();
  data_ = grown;
  nbytes_ = nbytes;
  deferred_ = false;
}

namespace {

/// Memory that a storage left, and what keeps the memory it went to.
struct Former : RefCounted {
  Former(Allocator* allocator, void* data, size_t nbytes, Device device,
         Ref<RefCounted> old_owner, Ref<RefCounted> owner)
      : allocator(allocator),
        data(data),
        nbytes(nbytes),
        device(device),
        old_owner(std::move(old_owner)),
        owner(std::move(owner)) {}
  ~Former() override {
    if (!allocator || !data) return;
    detail::tell_memory(data, -signed_size(nbytes), device);
    allocator->deallocate(data, nbytes, nullptr);
  }

  Allocator* allocator;
  void* data;
  size_t nbytes;
  Device device;
  Ref<RefCounted> old_owner, owner;
};

}  // namespace

void Storage::move(void* data, Ref<RefCounted> owner) {
  expose();
  if (nbytes_ > 0) std::memcpy(data, this->data(), nbytes_);
  if (lent_.load(std::memory_order_relaxed)) {
    owner = make_ref<Former>(allocator_, data_.load(), nbytes_, device_,
                             std::move(owner_), std::move(owner));
    allocator_ = nullptr;
  }
  place(data, std::move(owner));
}

void Storage::place(void* data, Ref<RefCounted> owner) {
  free();
  data_ = data;
  deferred_ = false;
  allocator_ = nullptr;
  owner_ = std::move(owner);
}

}  // namespace hotaru
