// A value of any type: what modules without a known signature take and give.
#pragma once

#include <any>
#include <typeinfo>
#include <utility>

#include "c10/util/Exception.h"
#include "c10/util/Type.h"

namespace torch::nn {

class AnyValue {
 public:
  AnyValue(AnyValue&&) = default;
  AnyValue& operator=(AnyValue&&) = default;
  AnyValue(const AnyValue&) = default;
  AnyValue& operator=(const AnyValue&) = default;
  template <class T, class = std::enable_if_t<
                         !std::is_same_v<AnyValue, std::decay_t<T>>>>
  explicit AnyValue(T&& value) : value_(std::forward<T>(value)) {}

  /// Throws, naming both types, where it is no T; try_get gives null.
  template <class T>
  T get() {
    if (auto* value = try_get<T>()) return *value;
    hotaru::fail(c10::str("Attempted to cast AnyValue to ",
                          c10::demangle_type<T>(), ", but its actual type is ",
                          c10::demangle(type_info().name())));
  }
  template <class T>
  T* try_get() {
    return std::any_cast<T>(&value_);
  }
  const std::type_info& type_info() const noexcept { return value_.type(); }

 private:
  std::any value_;
};

}  // namespace torch::nn
