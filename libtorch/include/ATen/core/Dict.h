// A dictionary that copies share, in the order in which keys came.
#pragma once

#include <optional>
#include <utility>

#include "ATen/core/List.h"

namespace c10 {

/// Keys and values of a dictionary of TorchScript's. Entries are copies.
template <class Key, class Value>
class Dict final {
  using KeyBox = hotaru::libtorch::Boxed<Key>;
  using ValueBox = hotaru::libtorch::Boxed<Value>;

 public:
  using key_type = Key;
  using mapped_type = Value;

  class Entry {
   public:
    Entry(hotaru::Ref<hotaru::DictObject> object, Key key, Value value)
        : object_(std::move(object)),
          key_(std::move(key)),
          value_(std::move(value)) {}
    const Key& key() const { return key_; }
    const Value& value() const { return value_; }
    /// Puts it into the dictionary; value() stays what it was.
    void setValue(Value value) const {
      object_->set(KeyBox::to(key_), ValueBox::to(std::move(value)));
    }

   private:
    hotaru::Ref<hotaru::DictObject> object_;
    Key key_;
    Value value_;
  };
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    iterator(const Dict& dict, size_t i) : object_(dict.object()), i_(i) {}
    /// An entry that lives until the iterator moves on.
    const Entry& operator*() const {
      if (!entry_) {
        const auto& item = object_->items.at(i_);
        entry_.emplace(object_, KeyBox::from(item.first),
                       ValueBox::from(item.second));
      }
      return *entry_;
    }
    const Entry* operator->() const { return &**this; }
    iterator& operator++() {
      ++i_;
      entry_.reset();
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return i_ == other.i_; }
    bool operator!=(const iterator& other) const { return i_ != other.i_; }

   private:
    hotaru::Ref<hotaru::DictObject> object_;
    size_t i_;
    mutable std::optional<Entry> entry_;
  };

  Dict() : object_(hotaru::make_ref<hotaru::DictObject>()) {}
  /// An empty one; Key and Value say already what it holds.
  Dict(const TypePtr&, const TypePtr&) : Dict() {}
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
