// ONNX Runtime's shared library, opened when it is first needed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hotaru/provider/ort/abi.h"

namespace hotaru::provider::ort {

struct Library {
  std::string path, version;
  Api api;

  /// Throws what a status says, after `what`, and releases it.
  void check(OrtStatus* status, const std::string& what) const {
    if (status) [[unlikely]]
      refuse(status, what);
  }
  [[noreturn]] void refuse(OrtStatus* status, const std::string& what) const;
  /// Names of the providers that it was built with.
  std::vector<std::string> providers() const;
};

/// The library: what HOTARU_ONNXRUNTIME names, else set_library_path(), else
/// libonnxruntime.so where the loader looks. Opened once, never closed. Throws
/// Error that says what to install, or what is wrong with the one found; the
/// next call then tries again. Thread-safe.
const Library& library();

/// Where it may be, from who knows (the Python package onnxruntime); before
/// its first use.
void set_library_path(std::string path);

/// Releases what an entry made.
template <class T>
class Owned {
 public:
  explicit Owned(void (*release)(T*)) : release_(release) {}
  Owned(Owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        release_(other.release_) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (object_) release_(object_);
  }
  T** out() { return &object_; }
  T* get() const { return object_; }
  T* detach() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
  void (*release_)(T*);
};

}  // namespace hotaru::provider::ort
