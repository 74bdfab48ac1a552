// A size for each of D dimensions, or one for all of them.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include "c10/util/ArrayRef.h"

namespace torch {

/// {2, 3}, or 2 for {2, 2}. Throws where neither one nor D values are given.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list)
      : ExpandingArray(at::ArrayRef<T>(list)) {}
  ExpandingArray(std::vector<T> list) : ExpandingArray(at::ArrayRef<T>(list)) {}
  ExpandingArray(at::ArrayRef<T> list) {
    TORCH_CHECK(list.size() == D, "Expected ", D, " values, but instead got ",
                list.size());
    std::copy(list.begin(), list.end(), values_.begin());
  }
  ExpandingArray(T one) { values_.fill(one); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator at::ArrayRef<T>() const { return values_; }
  size_t size() const noexcept { return D; }

 protected:
  std::array<T, D> values_{};
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& out, const ExpandingArray<D, T>& array) {
  if (array.size() == 1) return out << array->front();
  return out << at::ArrayRef<T>(array);
}

/// The same, each of which may be missing.
template <size_t D, class T = int64_t>
class ExpandingArrayWithOptionalElem
    : public ExpandingArray<D, std::optional<T>> {
 public:
  using ExpandingArray<D, std::optional<T>>::ExpandingArray;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : ExpandingArrayWithOptionalElem(at::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(std::vector<T> list)
      : ExpandingArrayWithOptionalElem(at::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(at::ArrayRef<T> list)
      : ExpandingArray<D, std::optional<T>>(std::optional<T>()) {
    TORCH_CHECK(list.size() == D, "Expected ", D, " values, but instead got ",
                list.size());
    std::copy(list.begin(), list.end(), this->values_.begin());
  }
  ExpandingArrayWithOptionalElem(T one)
      : ExpandingArray<D, std::optional<T>>(std::optional<T>(one)) {}
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& out,
                         const ExpandingArrayWithOptionalElem<D, T>& array) {
  out << '[';
  for (size_t i = 0; i < D; ++i) {
    if (i) out << ", ";
    if (const auto& value = (*array)[i])
      out << *value;
    else
      out << "None";
  }
  return out << ']';
}

}  // namespace torch
