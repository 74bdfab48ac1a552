// cuDNN's descriptors as values: what they are told, who owns them.
#pragma once

#include <mutex>
#include <span>
#include <utility>

#include "hotaru/backend/cuda/libraries/cudnn_entries.h"
#include "hotaru/backend/cuda/libraries/cudnn_rnn_entries.h"
#include "hotaru/backend/cuda/libraries/library.h"

namespace hotaru::cuda::dnn {

struct Cudnn {
  static constexpr const char* kName = "cuDNN";
  OpenedLibrary library = open_library({"libcudnn.so.9"});
  size_t (*version)() = nullptr;
#define HOTARU_MEMBER(name, symbol, params) int(*name) params = nullptr;
  HOTARU_CUDNN_ENTRIES(HOTARU_MEMBER)
  HOTARU_CUDNN_RNN_ENTRIES(HOTARU_MEMBER)
#undef HOTARU_MEMBER

  Cudnn();
  std::string version_text() const {
    return version_text_of(int64_t(version()), 10000);
  }
};

/// Throws Error that names the call, unless it went well.
void check_dnn(int status, const char* what);

/// A descriptor that goes with its owner.
class Owned {
 public:
  Owned() = default;
  explicit Owned(DescriptorType type);
  ~Owned() { reset(); }
  Owned(Owned&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  const Descriptor& get() const { return handle_; }

  void set(Attribute attribute, ValueType type, int64_t count,
           const void* values);
  void set(Attribute attribute, std::span<const int64_t> values) {
    set(attribute, kInt64Value, int64_t(values.size()), values.data());
  }
  void set(Attribute attribute, int64_t value) {
    set(attribute, kInt64Value, 1, &value);
  }
  /// One of the library's enumerations.
  void set(Attribute attribute, ValueType type, int value) {
    set(attribute, type, 1, &value);
  }
  void set(Attribute attribute, const Owned& value) {
    set(attribute, kDescriptorValue, 1, &value.handle_);
  }
  void set(Attribute attribute, Handle handle) {
    set(attribute, kHandleValue, 1, &handle);
  }
  /// How many values there are; at most `wanted` are written.
  int64_t get(Attribute attribute, ValueType type, int64_t wanted,
              void* values) const;
  /// Tells whether the library takes what it was told.
  bool finalize();
  /// For what it always takes; throws.
  void finish(const char* what);

 private:
  void reset();
  Descriptor handle_ = nullptr;
};

/// A device's handle. Of use to one thread at a time: its mutex is held while
/// something is executed with it.
struct Context {
  Handle handle = nullptr;
  std::mutex mutex;
};
/// A device's; the second, the launching stream's device's.
Context& context_of(const Cudnn& dnn, int device);
Context& context_here(const Cudnn& dnn);

}  // namespace hotaru::cuda::dnn
