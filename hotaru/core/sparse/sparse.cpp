#include "hotaru/core/sparse/sparse.h"

#include <algorithm>

#include "hotaru/core/error.h"

namespace hotaru {

namespace {

/// Has no memory to give: the elements are not in one piece of it.
struct NoMemory final : Allocator {
  void* allocate(size_t) override {
    fail<NotImplementedError>(
        "this operator has no code for sparse tensors, whose elements are not "
        "in one piece of memory: call it with x.to_dense(), or on x.values()");
  }
  void deallocate(void*, size_t, PendingUses*) noexcept override {}
};

Allocator& no_memory() {
  static NoMemory allocator;
  return allocator;
}

}  // namespace

SparseStorage::SparseStorage(Parts parts, size_t nbytes, Device device)
    // Never none: pending() tells sparse tensors, empty ones too.
    : Storage(no_memory(), std::max<size_t>(nbytes, 1), device, true),
      parts_(std::move(parts)) {}

SparseStorage::~SparseStorage() = default;

Tensor make_sparse(SparseStorage::Parts parts, IntSpan sizes, bool coalesced) {
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  const DType dtype = parts.values.dtype();
  const Device device = parts.values.device();
  auto storage = make_ref<SparseStorage>(
      std::move(parts), size_t(numel) * itemsize(dtype), device);
  storage->set_coalesced(coalesced);
  return Tensor(make_ref<TensorImpl>(Ref<Storage>(std::move(storage)), dtype,
                                     sizes, numel));
}

SparseStorage* sparse_storage(const Tensor& tensor) {
  return dynamic_cast<SparseStorage*>(tensor.storage().get());
}

}  // namespace hotaru
