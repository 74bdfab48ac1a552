// Options of a new tensor: dtype, device, layout and more, each optional.
#pragma once

#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>

#include "c10/core/Device.h"
#include "c10/core/Layout.h"
#include "c10/core/MemoryFormat.h"
#include "c10/core/ScalarType.h"
#include "c10/util/typeid.h"

namespace c10 {

/// Immutable; each setter gives a changed copy:
/// torch::zeros({2}, torch::dtype(torch::kDouble).requires_grad(true)).
struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(Layout layout) : layout_(layout) {}
  TensorOptions(ScalarType type) : dtype_(type) {}
  TensorOptions(caffe2::TypeMeta type) : dtype_(type.toScalarType()) {}
  TensorOptions(MemoryFormat format) : memory_format_(format) {}
  /// Whatever a device is made of: "cuda:1", {kCUDA, 1}.
  template <class... Args, class = std::enable_if_t<
                               std::is_constructible_v<Device, Args&&...>>>
  TensorOptions(Args&&... args)
      : device_(std::in_place, std::forward<Args>(args)...) {}

  [[nodiscard]] TensorOptions device(std::optional<Device> device) const {
    return with(&TensorOptions::device_, device);
  }
  template <class... Args>
  [[nodiscard]] TensorOptions device(Args&&... args) const {
    return device(
        std::optional<Device>(std::in_place, std::forward<Args>(args)...));
  }
  [[nodiscard]] TensorOptions device_index(DeviceIndex index) const {
    return device(Device(DeviceType::CUDA, index));
  }
  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> type) const {
    return with(&TensorOptions::dtype_, type);
  }
  [[nodiscard]] TensorOptions dtype(ScalarType type) const {
    return dtype(std::optional<ScalarType>(type));
  }
  [[nodiscard]] TensorOptions dtype(caffe2::TypeMeta type) const {
    return dtype(type.toScalarType());
  }
  template <class T>
  TensorOptions& dtype() {
    dtype_ = CppTypeToScalarType<T>::value;
    return *this;
  }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> layout) const {
    return with(&TensorOptions::layout_, layout);
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> on) const {
    return with(&TensorOptions::requires_grad_, on);
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> on) const {
    return with(&TensorOptions::pinned_memory_, on);
  }
  [[nodiscard]] TensorOptions memory_format(
      std::optional<MemoryFormat> format) const {
    return with(&TensorOptions::memory_format_, format);
  }
  /// The other's, and where they say nothing these.
  [[nodiscard]] TensorOptions merge_in(const TensorOptions& other) const;

  Device device() const { return device_.value_or(Device(DeviceType::CPU)); }
  caffe2::TypeMeta dtype() const {
    return dtype_ ? caffe2::TypeMeta(*dtype_) : get_default_dtype();
  }
  Layout layout() const { return layout_.value_or(Layout::Strided); }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool pinned_memory() const { return pinned_memory_.value_or(false); }
  int32_t device_index() const { return device().index(); }
  bool is_sparse() const { return layout() == Layout::Sparse; }

  std::optional<Device> device_opt() const { return device_; }
  std::optional<caffe2::TypeMeta> dtype_opt() const {
    if (!dtype_) return std::nullopt;
    return caffe2::TypeMeta(*dtype_);
  }
  std::optional<Layout> layout_opt() const { return layout_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<bool> pinned_memory_opt() const { return pinned_memory_; }
  std::optional<MemoryFormat> memory_format_opt() const {
    return memory_format_;
  }
  bool has_device() const { return device_.has_value(); }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_layout() const { return layout_.has_value(); }
  bool has_requires_grad() const { return requires_grad_.has_value(); }
  bool has_pinned_memory() const { return pinned_memory_.has_value(); }
  bool has_memory_format() const { return memory_format_.has_value(); }

 private:
  template <class T>
  TensorOptions with(std::optional<T> TensorOptions::*field,
                     std::optional<T> value) const {
    TensorOptions out = *this;
    out.*field = value;
    return out;
  }

  std::optional<Device> device_;
  std::optional<ScalarType> dtype_;
  std::optional<Layout> layout_;
  std::optional<bool> requires_grad_, pinned_memory_;
  std::optional<MemoryFormat> memory_format_;
};

inline TensorOptions dtype(ScalarType type) {
  return {type};
}
inline TensorOptions dtype(caffe2::TypeMeta type) {
  return {type};
}
template <class T>
TensorOptions dtype() {
  return {CppTypeToScalarType<T>::value};
}
inline TensorOptions layout(Layout layout) {
  return {layout};
}
inline TensorOptions device(Device device) {
  return {device};
}
inline TensorOptions device_index(DeviceIndex index) {
  return TensorOptions().device_index(index);
}
inline TensorOptions requires_grad(bool on = true) {
  return TensorOptions().requires_grad(on);
}
inline TensorOptions memory_format(MemoryFormat format) {
  return {format};
}

std::ostream& operator<<(std::ostream& out, const TensorOptions& options);
std::string toString(const TensorOptions& options);

}  // namespace c10
