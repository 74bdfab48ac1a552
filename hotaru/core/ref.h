// Intrusive reference counting: one allocation an object, one word a handle.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace hotaru {

/// Base of objects that Ref<T> shares. Counting is thread-safe; the object
/// itself is as thread-safe as its class says.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Retains unless the last owner has already let go. For weak pointers
  /// whose reader holds a lock that the destructor takes too.
  bool try_retain() const {
    int32_t count = count_.load(std::memory_order_relaxed);
    while (count != 0)
      if (count_.compare_exchange_weak(count, count + 1,
                                       std::memory_order_relaxed))
        return true;
    return false;
  }
  /// Number of owners at this moment; exact only for the last owner.
  int64_t use_count() const { return count_.load(std::memory_order_relaxed); }

 private:
  mutable std::atomic<int32_t> count_{0};
};

/// A shared owner of a RefCounted object, or null.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> Ref(const Ref<U>& other)
      : Ref(other.get()) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> Ref(Ref<U>&& other)
  noexcept : object_(other.detach()) {}
  ~Ref() {
    if (object_) object_->release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref&) const = default;

  /// Gives up ownership without releasing; pair with adopt().
  T* detach() { return std::exchange(object_, nullptr); }
  /// Takes over a reference that is already counted.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace hotaru
