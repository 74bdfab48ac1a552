#include "hotaru/comm/store/hash_store.h"

namespace hotaru::comm {

template <class F>
auto HashStore::change(const F& f) {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  return f();
}

void HashStore::set(const std::string& key, const std::string& value) {
  change([&] { table_.set(key, value); });
}
int64_t HashStore::add(const std::string& key, int64_t amount) {
  return change([&] { return table_.add(key, amount); });
}
std::string HashStore::compare_set(const std::string& key,
                                   const std::string& expected,
                                   const std::string& desired) {
  return change([&] { return table_.compare_set(key, expected, desired); });
}
void HashStore::append(const std::string& key, const std::string& value) {
  change([&] { table_.append(key, value); });
}
bool HashStore::delete_key(const std::string& key) {
  return change([&] { return table_.erase(key); });
}

std::string HashStore::get(const std::string& key) {
  std::unique_lock lock(mutex_);
  wait(lock, {key}, timeout());
  return *table_.find(key);
}
int64_t HashStore::num_keys() {
  const std::lock_guard lock(mutex_);
  return table_.size();
}
bool HashStore::check(const Keys& keys) {
  const std::lock_guard lock(mutex_);
  return table_.has_all(keys);
}
void HashStore::queue_push(const std::string& key, const std::string& value) {
  change([&] { table_.push(key, value); });
}
std::string HashStore::queue_pop(const std::string& key, bool block) {
  std::unique_lock lock(mutex_);
  if (block && !changed_.wait_for(lock, timeout(),
                                  [&] { return table_.length(key) > 0; }))
    timed_out({key}, timeout());
  if (auto value = table_.pop(key)) return *value;
  queue_is_empty(key);
}
int64_t HashStore::queue_len(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return table_.length(key);
}
Keys HashStore::list_keys() {
  const std::lock_guard lock(mutex_);
  return table_.keys();
}
void HashStore::wait(const Keys& keys, Millis timeout) {
  std::unique_lock lock(mutex_);
  wait(lock, keys, timeout);
}
void HashStore::wait(std::unique_lock<std::mutex>& lock, const Keys& keys,
                     Millis timeout) {
  if (!changed_.wait_for(lock, timeout, [&] { return table_.has_all(keys); }))
    timed_out(keys, timeout);
}

}  // namespace hotaru::comm
