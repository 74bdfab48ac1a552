// Shared owners of objects that count their owners themselves.
#pragma once

#include <functional>
#include <ostream>
#include <utility>

#include "hotaru/core/ref.h"

namespace c10 {

/// Base of what intrusive_ptr owns.
class intrusive_ptr_target : public hotaru::RefCounted {};

/// hotaru::Ref under PyTorch's names.
template <class T>
class intrusive_ptr final {
 public:
  using element_type = T;

  intrusive_ptr() = default;
  intrusive_ptr(std::nullptr_t) {}
  explicit intrusive_ptr(hotaru::Ref<T> ref) : ref_(std::move(ref)) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  intrusive_ptr(intrusive_ptr<U> other) : ref_(static_cast<T*>(other.get())) {}

  template <class... Args>
  static intrusive_ptr make(Args&&... args) {
    return intrusive_ptr(hotaru::make_ref<T>(std::forward<Args>(args)...));
  }
  /// Another owner of what some owner has already.
  static intrusive_ptr reclaim_copy(T* object) {
    return intrusive_ptr(hotaru::Ref<T>(object));
  }
  static intrusive_ptr unsafe_reclaim_from_nonowning(T* object) {
    return reclaim_copy(object);
  }

  T* get() const noexcept { return ref_.get(); }
  T& operator*() const noexcept { return *ref_; }
  T* operator->() const noexcept { return ref_.get(); }
  explicit operator bool() const noexcept { return bool(ref_); }
  bool defined() const noexcept { return bool(ref_); }
  void reset() noexcept { ref_ = nullptr; }
  size_t use_count() const noexcept {
    return ref_ ? size_t(ref_->use_count()) : 0;
  }
  bool unique() const noexcept { return use_count() == 1; }
  const hotaru::Ref<T>& ref() const { return ref_; }

  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) {
    return a.get() == b.get();
  }
  friend bool operator!=(const intrusive_ptr& a, const intrusive_ptr& b) {
    return a.get() != b.get();
  }
  friend bool operator==(const intrusive_ptr& a, std::nullptr_t) { return !a; }
  friend bool operator!=(const intrusive_ptr& a, std::nullptr_t) {
    return bool(a);
  }
  friend bool operator<(const intrusive_ptr& a, const intrusive_ptr& b) {
    return std::less<T*>()(a.get(), b.get());
  }

 private:
  hotaru::Ref<T> ref_;
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::make(std::forward<Args>(args)...);
}

}  // namespace c10

template <class T>
struct std::hash<c10::intrusive_ptr<T>> {
  size_t operator()(const c10::intrusive_ptr<T>& p) const {
    return std::hash<T*>()(p.get());
  }
};
