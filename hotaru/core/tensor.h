// The tensor: a typed, strided view of a storage.
#pragma once

#include <memory>

#include "hotaru/core/dtype.h"
#include "hotaru/core/scalar.h"
#include "hotaru/core/shape.h"
#include "hotaru/core/storage.h"

namespace hotaru {

class Tensor;

/// State that autograd keeps about a tensor; defined in autograd/meta.h.
struct AutogradMeta : RefCounted {};

/// The shared object behind Tensor handles.
class TensorImpl : public RefCounted, public Pooled {
 public:
  TensorImpl(Ref<Storage> storage, DType dtype, IntSpan sizes, IntSpan strides,
             int64_t offset);
  /// Row-major over the whole storage; numel is the product of the sizes.
  TensorImpl(Ref<Storage> storage, DType dtype, IntSpan sizes, int64_t numel);
  /// The same memory, geometry and standing in type promotion, and no more.
  TensorImpl(const TensorImpl& other);
  ~TensorImpl() override;

  /// Changes the geometry in place (resize_, t_, squeeze_ ...).
  void set_geometry(IntSpan sizes, IntSpan strides, int64_t offset);
  /// Counts a write, as Tensor::bump_version() does.
  void bump_version() {
    if (tracks_version) storage->bump_version();
  }

  Ref<Storage> storage;
  Dims sizes, strides;
  int64_t offset = 0;  // in elements
  int64_t numel = 0;
  DType dtype;
  bool contiguous = true;
  /// Made from a Python number: weaker in type promotion.
  bool wrapped_number = false;
  /// False for `x.data`: writes through it go unnoticed by autograd.
  bool tracks_version = true;
  /// Held by a queued call, which runs when it is the call's turn: its memory
  /// is not waited for.
  bool in_turn = false;
  /// A leaf with requires_grad; anything more sits in `autograd`.
  Ref<AutogradMeta> autograd;
  /// The tensor whose memory this one views, or null.
  Ref<TensorImpl> base;
  /// The Python object that stands for this tensor, not owned; with the
  /// function that is told when this tensor goes first.
  void* python_object = nullptr;
};

/// A handle to a tensor; copying shares it. Const methods are thread-safe.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return bool(impl_); }
  explicit operator bool() const = delete;
  TensorImpl* impl() const { return impl_.get(); }
  const Ref<TensorImpl>& ref() const { return impl_; }
  /// Gives up this handle's ownership.
  Ref<TensorImpl> take() && { return std::move(impl_); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  DType dtype() const { return impl_->dtype; }
  Device device() const { return impl_->storage->device(); }
  IntSpan sizes() const { return impl_->sizes; }
  IntSpan strides() const { return impl_->strides; }
  /// Size of a dimension, which may count from the end.
  int64_t size(int64_t dim) const {
    return impl_->sizes[size_t(wrap_dim(dim, this->dim(), false))];
  }
  int64_t stride(int64_t dim) const {
    return impl_->strides[size_t(wrap_dim(dim, this->dim(), false))];
  }
  int64_t dim() const { return int64_t(impl_->sizes.size()); }
  int64_t numel() const { return impl_->numel; }
  int64_t storage_offset() const { return impl_->offset; }
  bool is_contiguous() const { return impl_->contiguous; }
  bool is_complex() const { return hotaru::is_complex(dtype()); }
  bool is_floating_point() const { return hotaru::is_floating_point(dtype()); }
  const Ref<Storage>& storage() const { return impl_->storage; }

  /// First element's address, for comparing; its memory may be in use.
  void* address() const {
    // As numbers: an empty storage has no address, and views of it an offset.
    return reinterpret_cast<void*>(  // NOLINT(performance-no-int-to-ptr)
        reinterpret_cast<uintptr_t>(impl_->storage->data()) +
        uintptr_t(impl_->offset) * itemsize(impl_->dtype));
  }
  /// The same, when what queued streams have to do with the memory is done
  /// (see Ordered::wait). Unchecked; host code reads it only for CPU tensors.
  /// Who writes asks anew each time, or says Storage::expose() once: graphs
  /// keep what they made of weights until they hear of a write.
  void* raw_data() const {
    if (!impl_->in_turn) impl_->storage->wait();
    return address();
  }
  /// The elements of a bool tensor are of type Bool.
  template <class T>
  T* data() const {
    static_assert(!std::is_same_v<T, bool>);
    return static_cast<T*>(raw_data());
  }

  uint32_t version() const { return impl_->storage->version(); }
  void bump_version() const {
    if (impl_->tracks_version) impl_->storage->bump_version();
  }
  /// True if the tensor shares memory as a differentiable view of another.
  bool is_view() const { return bool(impl_->base); }

 private:
  Ref<TensorImpl> impl_;
};

/// A tensor over existing storage. Throws if the geometry reaches outside it.
Tensor make_tensor(Ref<Storage> storage, DType dtype, IntSpan sizes,
                   IntSpan strides, int64_t offset);
/// The same memory under another geometry, recorded as a view of `self`'s
/// base for in-place autograd. Carries no gradient history by itself.
Tensor make_view(const Tensor& self, IntSpan sizes, IntSpan strides,
                 int64_t offset);
/// The same memory and geometry, unknown to autograd. Shares the version.
Tensor make_alias(const Tensor& self);

}  // namespace hotaru
