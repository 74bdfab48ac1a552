// A borrowed array: what operators take for lists of sizes and tensors.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <type_traits>
#include <vector>

#include "c10/util/Exception.h"
#include "hotaru/core/shape.h"

namespace c10 {

/// A pointer and a length; whoever made it keeps the elements alive. One
/// element converts to an array of one.
template <class T>
class ArrayRef final {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;
  using reverse_iterator = std::reverse_iterator<iterator>;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end)
      : data_(begin), size_(size_t(end - begin)) {}
  template <class A>
  constexpr ArrayRef(const std::vector<T, A>& items)
      : data_(items.data()), size_(items.size()) {
    static_assert(!std::is_same_v<T, bool>,
                  "a std::vector<bool> has no array of bools");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& items)
      : data_(items.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&items)[N])  // NOLINT(*-avoid-c-arrays)
      : data_(items), size_(N) {}
  /// Valid as long as the list, which is to the end of the expression.
  constexpr ArrayRef(const std::initializer_list<T>& items)
      : size_(items.size()) {
    data_ = items.begin();
  }
  /// Any other container of contiguous elements.
  template <
      class Container,
      class = std::enable_if_t<
          std::is_convertible_v<
              decltype(std::declval<const Container&>().data()), const T*> &&
          !std::is_same_v<Container, ArrayRef>>,
      class = decltype(std::declval<const Container&>().size())>
  constexpr ArrayRef(const Container& items)
      : data_(items.data()), size_(items.size()) {}

  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr const_iterator cbegin() const { return begin(); }
  constexpr const_iterator cend() const { return end(); }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr const T& front() const {
    TORCH_CHECK(size_, "ArrayRef: attempted to access front() of empty list");
    return data_[0];
  }
  constexpr const T& back() const {
    TORCH_CHECK(size_, "ArrayRef: attempted to access back() of empty list");
    return data_[size_ - 1];
  }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr const T& at(size_t i) const {
    TORCH_CHECK(i < size_, "ArrayRef: invalid index Index = ", i,
                "; Length = ", size_);
    return data_[i];
  }

  constexpr bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i])) return false;
    return true;
  }
  /// Elements n ... n + count - 1.
  constexpr ArrayRef slice(size_t n, size_t count) const {
    TORCH_CHECK(n + count <= size_, "ArrayRef: invalid slice, N = ", n,
                "; M = ", count, "; size = ", size_);
    return {data_ + n, count};
  }
  constexpr ArrayRef slice(size_t n) const {
    TORCH_CHECK(n <= size_, "ArrayRef: invalid slice, N = ", n,
                "; size = ", size_);
    return slice(n, size_ - n);
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
ArrayRef(const T*, size_t) -> ArrayRef<T>;
template <class T, class A>
ArrayRef(const std::vector<T, A>&) -> ArrayRef<T>;

using IntArrayRef = ArrayRef<int64_t>;
/// Sizes are numbers here: nothing is symbolic.
using SymIntArrayRef = IntArrayRef;

template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& items) {
  return items;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return {data, size};
}

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) {
  return !(a == b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}
template <class T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) {
  return !(a == b);
}

/// As PyTorch prints it: [2, 3].
template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << '[';
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  return out << ']';
}

}  // namespace c10

namespace at {
using c10::ArrayRef;
using c10::IntArrayRef;
}  // namespace at
