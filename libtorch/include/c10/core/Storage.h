// The bytes behind tensors.
#pragma once

#include <memory>

#include "c10/core/Device.h"
#include "hotaru/core/storage.h"

namespace c10 {

/// Where the bytes of a storage are, as long as it lives.
class DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, Device device) : data_(data), device_(device) {}

  void* get() const { return data_; }
  void* mutable_get() { return data_; }
  void* operator->() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }
  Device device() const { return device_; }

 private:
  void* data_ = nullptr;
  Device device_ = DeviceType::CPU;
};

/// A handle to a storage; copying shares it.
class Storage {
 public:
  Storage() = default;
  explicit Storage(hotaru::Ref<hotaru::Storage> storage)
      : storage_(std::move(storage)) {}

  explicit operator bool() const { return bool(storage_); }
  size_t nbytes() const { return storage_->nbytes(); }
  size_t sym_nbytes() const { return nbytes(); }
  /// Keeps what fits; throws for memory that is borrowed or lent.
  void set_nbytes(size_t nbytes) const { storage_->resize(nbytes); }
  bool resizable() const { return storage_->resizable(); }
  Device device() const { return Device(storage_->device()); }
  DeviceType device_type() const { return device().type(); }
  /// As Tensor::const_data_ptr and data_ptr; of the first byte.
  const void* data() const {
    storage_->wait();
    return storage_->data();
  }
  void* mutable_data() const {
    storage_->expose();
    return storage_->data();
  }
  /// Const, so that `auto& p = s.data_ptr()` compiles, as it does over PyTorch.
  const DataPtr data_ptr() const { return {mutable_data(), device()}; }
  DataPtr mutable_data_ptr() const { return data_ptr(); }
  size_t use_count() const { return size_t(storage_->use_count()); }
  bool is_alias_of(const Storage& other) const {
    return storage_ == other.storage_;
  }
  const hotaru::Ref<hotaru::Storage>& hotaru_storage() const {
    return storage_;
  }

 private:
  hotaru::Ref<hotaru::Storage> storage_;
};

}  // namespace c10
