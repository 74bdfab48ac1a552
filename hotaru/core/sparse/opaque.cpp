#include "hotaru/core/sparse/opaque.h"

#include <algorithm>
#include <atomic>

#include "hotaru/core/checks/check.h"

namespace hotaru {

namespace {

/// Has no memory to give: the elements are not in one piece of it.
struct NoMemory final : Allocator {
  void* allocate(size_t) override {
    fail<NotImplementedError>(
        "this operator has no code for tensors without memory of their own: "
        "sparse ones (call it with x.to_dense(), or on x.values()) and those "
        "of classes with __torch_dispatch__");
  }
  void deallocate(void*, size_t, PendingUses*) noexcept override {}
};

Allocator& no_memory() {
  static NoMemory allocator;
  return allocator;
}

std::atomic<OpaqueSum> sum_hook{nullptr};
std::atomic<void (*)()> notice_hook{nullptr};

}  // namespace

namespace detail {
std::atomic<bool> opaque_made{false};
}

// Never of no bytes: pending() tells such storages, empty ones too.
OpaqueStorage::OpaqueStorage(size_t nbytes, Device device)
    : Storage(no_memory(), std::max<size_t>(nbytes, 1), device, true) {
  detail::opaque_made.store(true, std::memory_order_relaxed);
  if (const auto notice = notice_hook.load()) notice();
}

OpaqueStorage::~OpaqueStorage() = default;

void set_opaque_notice(void (*notice)()) {
  notice_hook = notice;
}

void set_opaque_sum(OpaqueSum sum) {
  sum_hook = sum;
}

Tensor opaque_sum(const Tensor& a, const Tensor& b) {
  const OpaqueSum sum = sum_hook;
  HOTARU_CHECK_AS(NotImplementedError, sum,
                  "add: nobody knows the sum of tensors without memory");
  return sum(a, b);
}

}  // namespace hotaru
