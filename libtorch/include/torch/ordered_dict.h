// A dictionary in the order in which its keys came.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "c10/util/Exception.h"

namespace torch {

template <class Key, class Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() { return value(); }
    const Value& operator*() const { return value(); }
    Value* operator->() { return &value(); }
    const Value* operator->() const { return &value(); }
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  explicit OrderedDict(std::string key_description = "Key")
      : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  const std::string& key_description() const noexcept {
    return key_description_;
  }
  Item& front() { return check_any("front"), items_.front(); }
  const Item& front() const { return check_any("front"), items_.front(); }
  Item& back() { return check_any("back"), items_.back(); }
  const Item& back() const { return check_any("back"), items_.back(); }
  Item& operator[](size_t i) {
    TORCH_CHECK(i < size(), "Index ", i, " is out of bounds");
    return items_[i];
  }
  const Item& operator[](size_t i) const {
    TORCH_CHECK(i < size(), "Index ", i, " is out of bounds");
    return items_[i];
  }
  /// Throws for a key that is not there; find() gives null.
  Value& operator[](const Key& key) {
    if (Value* found = find(key)) return *found;
    missing(key);
  }
  const Value& operator[](const Key& key) const {
    if (const Value* found = find(key)) return *found;
    missing(key);
  }
  Value* find(const Key& key) noexcept {
    const auto at = index_.find(key);
    return at == index_.end() ? nullptr : &items_[at->second].value();
  }
  const Value* find(const Key& key) const noexcept {
    const auto at = index_.find(key);
    return at == index_.end() ? nullptr : &items_[at->second].value();
  }
  bool contains(const Key& key) const noexcept { return find(key) != nullptr; }

  Iterator begin() { return items_.begin(); }
  ConstIterator begin() const { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator end() const { return items_.end(); }
  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }

  /// Throws for a key that is there already.
  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    TORCH_CHECK(!index_.count(key), key_description_, " '", key,
                "' already defined");
    items_.emplace_back(key, std::forward<V>(value));
    index_.emplace(std::forward<K>(key), size() - 1);
    return items_.back().value();
  }
  Value& insert(Key key, Value&& value) {
    return insert<Key, Value>(std::move(key), std::move(value));
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    const auto at = index_.find(key);
    TORCH_CHECK(at != index_.end(), "Key '", key, "' doesn't exist");
    const size_t gone = at->second;
    items_.erase(items_.begin() + std::ptrdiff_t(gone));
    index_.erase(at);
    for (auto& entry : index_)
      if (entry.second > gone) --entry.second;
  }
  void clear() {
    items_.clear();
    index_.clear();
  }
  void reserve(size_t n) {
    items_.reserve(n);
    index_.reserve(n);
  }

  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    std::vector<Key> out;
    for (const Item& item : items_) out.push_back(item.key());
    return out;
  }
  std::vector<Value> values() const {
    std::vector<Value> out;
    for (const Item& item : items_) out.push_back(item.value());
    return out;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> out;
    for (const Item& item : items_) out.push_back(item.pair());
    return out;
  }
  friend bool operator==(const OrderedDict& a, const OrderedDict& b) {
    return a.pairs() == b.pairs();
  }

 private:
  void check_any(const char* method) const {
    TORCH_CHECK(!items_.empty(), "Called ", method,
                "() on an empty OrderedDict");
  }
  [[noreturn]] void missing(const Key& key) const {
    hotaru::fail(c10::str(key_description_, " '", key, "' is not defined"));
  }

  std::unordered_map<Key, size_t> index_;
  std::vector<Item> items_;
  std::string key_description_;
};

}  // namespace torch
