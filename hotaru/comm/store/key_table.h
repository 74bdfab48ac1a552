// Keys of one process, and what a store's operations do to them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "hotaru/comm/store/store.h"

namespace hotaru::comm {

/// Not thread-safe: whoever has one locks it.
class KeyTable {
 public:
  void set(const std::string& key, std::string value) {
    values_[key] = std::move(value);
  }
  /// Null where there is none.
  const std::string* find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  /// Values, or queues that hold something.
  bool has_all(const Keys& keys) const;
  /// DistStoreError for a value that is no number, or a sum beyond int64.
  int64_t add(const std::string& key, int64_t amount);
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired);
  void append(const std::string& key, const std::string& value) {
    values_[key] += value;
  }
  bool erase(const std::string& key) { return values_.erase(key) > 0; }
  int64_t size() const { return int64_t(values_.size()); }
  Keys keys() const;

  // Queues, beside the values.
  void push(const std::string& key, std::string value) {
    queues_[key].push_back(std::move(value));
  }
  /// Null where it is empty.
  std::optional<std::string> pop(const std::string& key);
  int64_t length(const std::string& key) const {
    const auto found = queues_.find(key);
    return found == queues_.end() ? 0 : int64_t(found->second.size());
  }

 private:
  std::unordered_map<std::string, std::string> values_;
  std::unordered_map<std::string, std::deque<std::string>> queues_;
};

}  // namespace hotaru::comm
