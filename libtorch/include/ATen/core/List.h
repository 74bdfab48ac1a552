// A list that copies share, as operators and TorchScript take them.
#pragma once

#include <initializer_list>
#include <iterator>
#include <vector>

#include "c10/util/ArrayRef.h"
#include "hotaru/core/value.h"

namespace hotaru::libtorch {
/// How a C++ type goes into a Value and comes out of it: `to` and `from`, which
/// throws for a value of another type. ATen/core/boxed.h.
template <class T, class = void>
struct Boxed;
}  // namespace hotaru::libtorch

namespace c10 {

struct Type;
using TypePtr = std::shared_ptr<Type>;

/// Elements of type T in a list of TorchScript's: copying a List shares them,
/// copy() makes others. Elements come by value.
template <class T>
class List final {
  using Box = hotaru::libtorch::Boxed<T>;

 public:
  using value_type = T;
  using size_type = size_t;

  /// Reference that list[i] = x writes to.
  class reference {
   public:
    reference(const List& list, size_t i) : list_(list), i_(i) {}
    operator T() const { return list_.get(i_); }
    T get() const { return list_.get(i_); }
    reference& operator=(T value) {
      list_.set(i_, std::move(value));
      return *this;
    }

   private:
    const List& list_;
    size_t i_;
  };
  class iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;

    iterator(const List& list, size_t i) : list_(&list), i_(i) {}
    T operator*() const { return list_->get(i_); }
    iterator& operator++() {
      ++i_;
      return *this;
    }
    iterator operator+(difference_type n) const {
      return {*list_, size_t(difference_type(i_) + n)};
    }
    difference_type operator-(const iterator& other) const {
      return difference_type(i_) - difference_type(other.i_);
    }
    bool operator==(const iterator& other) const { return i_ == other.i_; }
    bool operator!=(const iterator& other) const { return i_ != other.i_; }

   private:
    const List* list_;
    size_t i_;
  };

  List() : items_(hotaru::make_ref<hotaru::ListObject>(Values())) {}
  /// An empty one; T says already which elements it has.
  explicit List(const TypePtr&) : List() {}
  List(std::initializer_list<T> items) : List(items.begin(), items.end()) {}
  explicit List(ArrayRef<T> items) : List(items.begin(), items.end()) {}
  explicit List(hotaru::Ref<hotaru::ListObject> items)
      : items_(std::move(items)) {}

  size_t size() const { return values().size(); }
  bool empty() const { return values().empty(); }
  T get(size_t i) const { return Box::from(values().at(i)); }
  T operator[](size_t i) const { return get(i); }
  reference operator[](size_t i) { return {*this, i}; }
  T extract(size_t i) const { return get(i); }
  void set(size_t i, T value) const {
    values().at(i) = Box::to(std::move(value));
  }
  void push_back(T value) const {
    values().push_back(Box::to(std::move(value)));
  }
  template <class... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  void append(const List& other) const {
    const Values copy = other.values();
    values().insert(values().end(), copy.begin(), copy.end());
  }
  void pop_back() const { values().pop_back(); }
  void clear() const { values().clear(); }
  void reserve(size_t n) const { values().reserve(n); }
  void resize(size_t n) const { values().resize(n, Box::to(T())); }
  void resize(size_t n, const T& value) const {
    values().resize(n, Box::to(value));
  }
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, size()}; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  List copy() const {
    return List(hotaru::make_ref<hotaru::ListObject>(values()));
  }
  bool is(const List& other) const { return items_ == other.items_; }
  const hotaru::Ref<hotaru::ListObject>& object() const { return items_; }
  friend bool operator==(const List& a, const List& b) {
    return a.vec() == b.vec();
  }

 private:
  using Values = std::vector<hotaru::Value>;
  template <class Iterator>
  List(Iterator begin, Iterator end) : List() {
    for (; begin != end; ++begin) push_back(*begin);
  }
  Values& values() const { return items_->items; }

  hotaru::Ref<hotaru::ListObject> items_;
};

}  // namespace c10
