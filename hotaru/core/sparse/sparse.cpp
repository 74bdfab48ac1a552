#include "hotaru/core/sparse/sparse.h"

namespace hotaru {

SparseStorage::SparseStorage(Parts parts, size_t nbytes, Device device)
    : OpaqueStorage(nbytes, device), parts_(std::move(parts)) {}

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
