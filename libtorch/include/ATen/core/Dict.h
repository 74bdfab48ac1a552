// A dictionary that copies share, in the order in which keys came.
#pragma once

#include <utility>

#include "ATen/core/List.h"

namespace c10 {

/// Keys and values of a dictionary of TorchScript's. Entries come by value.
template <class Key, class Value>
class Dict final {
  using KeyBox = hotaru::libtorch::Boxed<Key>;
  using ValueBox = hotaru::libtorch::Boxed<Value>;

 public:
  using key_type = Key;
  using mapped_type = Value;

  class Entry {
   public:
    Entry(Key key, Value value)
        : key_(std::move(key)), value_(std::move(value)) {}
    const Key& key() const { return key_; }
    const Value& value() const { return value_; }

   private:
    Key key_;
    Value value_;
  };
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = Entry;
    struct Arrow {
      Entry entry;
      const Entry* operator->() const { return &entry; }
    };

    iterator(const Dict& dict, size_t i) : dict_(&dict), i_(i) {}
    Entry operator*() const {
      const auto& item = dict_->object()->items.at(i_);
      return {KeyBox::from(item.first), ValueBox::from(item.second)};
    }
    Arrow operator->() const { return {**this}; }
    iterator& operator++() {
      ++i_;
      return *this;
    }
    bool operator==(const iterator& other) const { return i_ == other.i_; }
    bool operator!=(const iterator& other) const { return i_ != other.i_; }

   private:
    const Dict* dict_;
    size_t i_;
  };

  Dict() : object_(hotaru::make_ref<hotaru::DictObject>()) {}
  explicit Dict(hotaru::Ref<hotaru::DictObject> object)
      : object_(std::move(object)) {}

  size_t size() const { return object_->items.size(); }
  bool empty() const { return size() == 0; }
  void clear() const { object_->clear(); }
  bool contains(const Key& key) const {
    return object_->find(KeyBox::to(key)) != nullptr;
  }
  /// Throws for a key that is not there.
  Value at(const Key& key) const {
    const hotaru::Value* found = object_->find(KeyBox::to(key));
    if (!found)
      throw hotaru::Error("Argument passed to at() was not in the map.");
    return ValueBox::from(*found);
  }
  iterator find(const Key& key) const {
    const hotaru::Value* found = object_->find(KeyBox::to(key));
    for (size_t i = 0; found && i < size(); ++i)
      if (&object_->items[i].second == found) return {*this, i};
    return end();
  }
  /// Only where there is no such key.
  void insert(Key key, Value value) const {
    if (!contains(key)) insert_or_assign(std::move(key), std::move(value));
  }
  void insert_or_assign(Key key, Value value) const {
    object_->set(KeyBox::to(std::move(key)), ValueBox::to(std::move(value)));
  }
  size_t erase(const Key& key) const {
    return object_->erase(KeyBox::to(key)) ? 1 : 0;
  }
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, size()}; }
  bool is(const Dict& other) const { return object_ == other.object_; }
  const hotaru::Ref<hotaru::DictObject>& object() const { return object_; }

 private:
  hotaru::Ref<hotaru::DictObject> object_;
};

}  // namespace c10
