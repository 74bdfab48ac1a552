// A tensor without its operators: geometry, memory, dtype, standing in
// autograd.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>

#include "ATen/core/TensorAccessor.h"
#include "c10/core/Device.h"
#include "c10/core/Layout.h"
#include "c10/core/MemoryFormat.h"
#include "c10/core/ScalarType.h"
#include "c10/core/Storage.h"
#include "c10/core/TensorOptions.h"
#include "c10/util/ArrayRef.h"
#include "c10/util/typeid.h"
#include "hotaru/core/tensor.h"

namespace c10 {
/// Type that Tensor::unsafeGetTensorImpl() points to.
using hotaru::TensorImpl;
}  // namespace c10

namespace at {

using c10::TensorImpl;

/// A handle of one pointer; copying shares the tensor. Const methods are
/// thread-safe. An undefined tensor has no elements and no dtype; what else is
/// asked of it throws.
class TensorBase {
 public:
  TensorBase() = default;
  explicit TensorBase(hotaru::Tensor tensor) : tensor_(std::move(tensor)) {}

  /// hotaru's own handle, for programs that mix both.
  const hotaru::Tensor& hotaru_tensor() const { return tensor_; }

  bool defined() const { return tensor_.defined(); }
  void reset() { tensor_ = hotaru::Tensor(); }
  bool is_same(const TensorBase& other) const {
    return tensor_.is_same(other.tensor_);
  }
  TensorImpl* unsafeGetTensorImpl() const { return tensor_.impl(); }
  size_t use_count() const;

  int64_t dim() const { return defined() ? tensor_.dim() : 1; }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t dim) const { return checked().size(dim); }
  int64_t stride(int64_t dim) const { return checked().stride(dim); }
  IntArrayRef sizes() const {
    if (!defined()) return kNoElements;
    const auto sizes = tensor_.sizes();
    return {sizes.data(), sizes.size()};
  }
  IntArrayRef strides() const {
    const auto strides = checked().strides();
    return {strides.data(), strides.size()};
  }
  IntArrayRef sym_sizes() const { return sizes(); }
  int64_t sym_size(int64_t dim) const { return size(dim); }
  int64_t numel() const { return defined() ? tensor_.numel() : 0; }
  int64_t sym_numel() const { return numel(); }
  int64_t storage_offset() const { return checked().storage_offset(); }
  size_t itemsize() const { return hotaru::itemsize(checked().dtype()); }
  int64_t element_size() const { return int64_t(itemsize()); }
  size_t nbytes() const { return size_t(numel()) * itemsize(); }
  bool is_contiguous(
      c10::MemoryFormat format = c10::MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const;
  c10::MemoryFormat suggest_memory_format(bool = false) const;

  c10::ScalarType scalar_type() const {
    return defined() ? c10::from_hotaru(tensor_.dtype())
                     : c10::ScalarType::Undefined;
  }
  caffe2::TypeMeta dtype() const { return scalar_type(); }
  c10::Device device() const { return c10::Device(checked().device()); }
  int64_t get_device() const { return device().index(); }
  c10::Layout layout() const;
  c10::TensorOptions options() const {
    return c10::TensorOptions(scalar_type()).device(device()).layout(layout());
  }
  bool is_complex() const { return checked().is_complex(); }
  bool is_floating_point() const { return checked().is_floating_point(); }
  bool is_signed() const { return c10::isSignedType(scalar_type()); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_mps() const { return false; }
  bool is_xpu() const { return false; }
  bool is_sparse() const { return layout() == c10::kSparse; }
  bool is_sparse_csr() const { return layout() == c10::kSparseCsr; }
  bool is_mkldnn() const { return false; }
  bool is_quantized() const { return false; }
  bool is_nested() const { return false; }
  bool is_conj() const { return false; }
  bool is_neg() const { return false; }
  bool is_view() const { return checked().is_view(); }
  bool is_inference() const;

  bool has_storage() const { return defined() && !is_sparse(); }
  /// Const as Storage::data_ptr() is.
  const c10::Storage storage() const {
    return c10::Storage(checked().storage());
  }
  bool is_alias_of(const TensorBase& other) const {
    return checked().storage() == other.checked().storage();
  }

  /// The first element's address, once queued streams are done with it. From
  /// now on others than kernels may write there (hotaru::Storage::expose), so
  /// graphs keep nothing that they made of it: prefer the const form for what
  /// is only read. Another device's address is not for the host.
  void* data_ptr() const { return mutable_data_ptr(); }
  void* mutable_data_ptr() const;
  const void* const_data_ptr() const;
  /// Throws PyTorch's text unless T is the dtype's C++ type.
  template <class T>
  T* data_ptr() const {
    check_type(c10::CppTypeToScalarType<std::remove_const_t<T>>::value);
    return static_cast<T*>(data_ptr());
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    check_type(c10::CppTypeToScalarType<std::remove_const_t<T>>::value);
    return static_cast<const T*>(const_data_ptr());
  }

  /// Throws PyTorch's texts for another dtype or number of dimensions.
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_accessor(N);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  template <class T, size_t N,
            template <class U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    TORCH_CHECK(numel() <= INT32_MAX,
                "numel needs to be smaller than int32_t max; otherwise, please "
                "use packed_accessor64");
    check_accessor(N);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, size_t N,
            template <class U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    check_accessor(N);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }

  bool requires_grad() const;
  bool is_leaf() const;
  int64_t output_nr() const;
  int64_t _version() const { return checked().version(); }
  bool retains_grad() const;

  std::string toString() const;
  void print() const;

 protected:
  const hotaru::Tensor& checked() const {
    if (!tensor_.defined()) [[unlikely]]
      undefined();
    return tensor_;
  }

  hotaru::Tensor tensor_;

 private:
  static constexpr std::array<int64_t, 1> kNoElements{0};

  [[noreturn]] static void undefined();
  void check_type(c10::ScalarType type) const {
    if (type != scalar_type()) [[unlikely]]
      wrong_type(type);
  }
  [[noreturn]] void wrong_type(c10::ScalarType type) const;
  void check_accessor(size_t dimensions) const;
};

}  // namespace at
