// A borrowed array that may be missing.
#pragma once

#include <initializer_list>
#include <optional>

#include "c10/util/ArrayRef.h"

namespace c10 {

/// std::optional<ArrayRef<T>> that one element and lists convert to.
template <class T>
class OptionalArrayRef final {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& list)
      : list_(list) {}
  constexpr OptionalArrayRef(const T& one) : list_(ArrayRef<T>(one)) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& items)
      : list_(ArrayRef<T>(items)) {}
  template <class List,
            class = std::enable_if_t<
                !std::is_arithmetic_v<List> &&
                std::is_convertible_v<List, ArrayRef<T>> &&
                !std::is_same_v<std::decay_t<List>, OptionalArrayRef>>>
  constexpr OptionalArrayRef(const List& list) : list_(ArrayRef<T>(list)) {}

  constexpr bool has_value() const { return list_.has_value(); }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const ArrayRef<T>& value() const { return list_.value(); }
  constexpr const ArrayRef<T>& operator*() const { return *list_; }
  constexpr const ArrayRef<T>* operator->() const { return &*list_; }
  constexpr ArrayRef<T> value_or(ArrayRef<T> other) const {
    return list_.value_or(other);
  }
  constexpr operator std::optional<ArrayRef<T>>() const { return list_; }

 private:
  std::optional<ArrayRef<T>> list_;
};

using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

}  // namespace c10

namespace at {
using c10::OptionalIntArrayRef;
}
