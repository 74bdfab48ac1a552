// Numbers to loop over: for (const auto i : c10::irange(n)).
#pragma once

#include <iterator>
#include <type_traits>

namespace c10 {

template <class Integer>
class integer_range {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Integer;
    using difference_type = std::ptrdiff_t;
    using pointer = const Integer*;
    using reference = Integer;

    explicit constexpr iterator(Integer value) : value_(value) {}
    constexpr Integer operator*() const { return value_; }
    constexpr iterator& operator++() {
      ++value_;
      return *this;
    }
    constexpr iterator operator++(int) {
      iterator before = *this;
      ++value_;
      return before;
    }
    constexpr bool operator==(const iterator& other) const {
      return value_ == other.value_;
    }
    constexpr bool operator!=(const iterator& other) const {
      return value_ != other.value_;
    }

   private:
    Integer value_;
  };

  constexpr integer_range(Integer begin, Integer end)
      : begin_(begin), end_(end < begin ? begin : end) {}
  constexpr iterator begin() const { return iterator(begin_); }
  constexpr iterator end() const { return iterator(end_); }

 private:
  Integer begin_, end_;
};

/// [begin, end), of the end's type; nothing where end <= begin.
template <
    class A, class B,
    class = std::enable_if_t<std::is_integral_v<A> && std::is_integral_v<B>>>
constexpr integer_range<B> irange(A begin, B end) {
  return {static_cast<B>(begin), end};
}
template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
constexpr integer_range<Integer> irange(Integer end) {
  return {Integer{}, end};
}

}  // namespace c10
