// A part of another store: its keys begin with a name.
#pragma once

#include "hotaru/comm/store/store.h"

namespace hotaru::comm {

/// `key` is PREFIX/key of the store below. num_keys counts all of that one's.
class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, Ref<Store> store)
      : Store(store->timeout()),
        prefix_(std::move(prefix)),
        store_(std::move(store)) {}

  const Ref<Store>& underlying_store() const { return store_; }

  void set(const std::string& key, const std::string& value) override {
    store_->set(named(key), value);
  }
  std::string get(const std::string& key) override {
    return store_->get(named(key));
  }
  int64_t add(const std::string& key, int64_t amount) override {
    return store_->add(named(key), amount);
  }
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired) override {
    return store_->compare_set(named(key), expected, desired);
  }
  void append(const std::string& key, const std::string& value) override {
    store_->append(named(key), value);
  }
  bool delete_key(const std::string& key) override {
    return store_->delete_key(named(key));
  }
  int64_t num_keys() override { return store_->num_keys(); }
  bool check(const Keys& keys) override { return store_->check(named(keys)); }
  void wait(const Keys& keys, Millis timeout) override {
    store_->wait(named(keys), timeout);
  }
  std::vector<std::string> multi_get(const Keys& keys) override {
    return store_->multi_get(named(keys));
  }
  void multi_set(const Keys& keys,
                 const std::vector<std::string>& values) override {
    store_->multi_set(named(keys), values);
  }
  void queue_push(const std::string& key, const std::string& value) override {
    store_->queue_push(named(key), value);
  }
  std::string queue_pop(const std::string& key, bool block) override {
    return store_->queue_pop(named(key), block);
  }
  int64_t queue_len(const std::string& key) override {
    return store_->queue_len(named(key));
  }
  /// Its own.
  Keys list_keys() override {
    Keys out;
    const std::string begin = named(std::string());
    for (const std::string& key : store_->list_keys())
      if (key.starts_with(begin)) out.push_back(key.substr(begin.size()));
    return out;
  }
  void set_timeout(Millis timeout) override {
    Store::set_timeout(timeout);
    store_->set_timeout(timeout);
  }
  std::string local_address() override { return store_->local_address(); }
  Ref<Store> clone() override {
    return make_ref<PrefixStore>(prefix_, store_->clone());
  }

 private:
  std::string named(const std::string& key) const {
    return prefix_ + "/" + key;
  }
  Keys named(Keys keys) const {
    for (std::string& key : keys) key = named(key);
    return keys;
  }

  const std::string prefix_;
  const Ref<Store> store_;
};

}  // namespace hotaru::comm
