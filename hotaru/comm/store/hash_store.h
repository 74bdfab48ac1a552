// A store for the threads of one process.
#pragma once

#include <condition_variable>
#include <mutex>

#include "hotaru/comm/store/key_table.h"

namespace hotaru::comm {

class HashStore final : public Store {
 public:
  HashStore() : Store(kStoreTimeout) {}

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired) override;
  void append(const std::string& key, const std::string& value) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;
  bool check(const Keys& keys) override;
  void wait(const Keys& keys, Millis timeout) override;
  void queue_push(const std::string& key, const std::string& value) override;
  std::string queue_pop(const std::string& key, bool block) override;
  int64_t queue_len(const std::string& key) override;
  Keys list_keys() override;

 private:
  /// Returns what f gives, under the lock; whoever waits looks again.
  template <class F>
  auto change(const F& f);
  void wait(std::unique_lock<std::mutex>& lock, const Keys& keys,
            Millis timeout);

  std::mutex mutex_;
  std::condition_variable changed_;
  KeyTable table_;
};

}  // namespace hotaru::comm
