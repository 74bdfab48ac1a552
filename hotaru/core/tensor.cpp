#include "hotaru/core/tensor.h"

#include <atomic>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/inference/inference.h"
#include "hotaru/core/sparse/opaque.h"

namespace hotaru {

TensorImpl::TensorImpl(Ref<Storage> storage, DType dtype, IntSpan sizes,
                       IntSpan strides, int64_t offset)
    : storage(std::move(storage)), dtype(dtype) {
  set_geometry(sizes, strides, offset);
}

TensorImpl::TensorImpl(Ref<Storage> storage, DType dtype, IntSpan sizes,
                       int64_t numel)
    : storage(std::move(storage)),
      sizes(sizes),
      strides(contiguous_strides(sizes)),
      numel(numel),
      dtype(dtype) {}

TensorImpl::TensorImpl(const TensorImpl& other)
    : RefCounted(),
      storage(other.storage),
      sizes(other.sizes),
      strides(other.strides),
      offset(other.offset),
      numel(other.numel),
      dtype(other.dtype),
      contiguous(other.contiguous),
      wrapped_number(other.wrapped_number) {}

namespace {

std::atomic<void (*)(void*)> object_release{nullptr};

}  // namespace

void set_object_release(void (*release)(void*)) {
  object_release = release;
}

TensorImpl::~TensorImpl() {
  if (python_object) [[unlikely]]
    if (const auto release = object_release.load()) release(python_object);
}

void TensorImpl::set_geometry(IntSpan new_sizes, IntSpan new_strides,
                              int64_t new_offset) {
  numel = numel_of(new_sizes);  // first: it may throw
  sizes.assign(new_sizes);
  strides.assign(new_strides);
  offset = new_offset;
  contiguous = is_contiguous(sizes, strides);
}

Tensor make_tensor(Ref<Storage> storage, DType dtype, IntSpan sizes,
                   IntSpan strides, int64_t offset) {
  HOTARU_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  for (const int64_t stride : strides)
    HOTARU_CHECK(stride >= 0,
                 "as_strided: Negative strides are not supported at the "
                 "moment, got strides: ",
                 shape_text(strides));
  const size_t bytes = storage_bytes(sizes, strides, itemsize(dtype), offset);
  HOTARU_CHECK(bytes <= storage->nbytes(), "setStorage: sizes ",
               shape_text(sizes), ", strides ", shape_text(strides),
               ", storage offset ", offset, ", and itemsize ", itemsize(dtype),
               " requiring a storage size of ", bytes,
               " are out of bounds for storage of size ", storage->nbytes());
  return Tensor(
      make_ref<TensorImpl>(std::move(storage), dtype, sizes, strides, offset));
}

Tensor make_view(const Tensor& self, IntSpan sizes, IntSpan strides,
                 int64_t offset) {
  Tensor view = Tensor(make_ref<TensorImpl>(self.storage(), self.dtype(), sizes,
                                            strides, offset));
  TensorImpl* impl = self.impl();
  if (!is_inference(self))
    view.impl()->base = impl->base ? impl->base : self.ref();
  view.impl()->tracks_version = impl->tracks_version;
  return view;
}

Tensor make_alias(const Tensor& self) {
  return Tensor(make_ref<TensorImpl>(self.storage(), self.dtype(), self.sizes(),
                                     self.strides(), self.storage_offset()));
}

}  // namespace hotaru
