// Keys and values that processes find each other through.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hotaru/comm/dist_error.h"
#include "hotaru/core/ref.h"

namespace hotaru::comm {

using Millis = std::chrono::milliseconds;
using Keys = std::vector<std::string>;

/// Shared by whoever opens it under the same name. Values are any bytes. Every
/// method is thread-safe; what waits, waits for timeout() unless told
/// otherwise, and throws DistStoreError with the keys' names after that.
class Store : public RefCounted {
 public:
  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Waits until the key is there.
  virtual std::string get(const std::string& key) = 0;
  /// Adds to a number, which starts at 0 and is kept as text; the sum.
  virtual int64_t add(const std::string& key, int64_t amount) = 0;
  /// Sets the key if its value is `expected`, or if there is none and
  /// `expected` is empty. What it has then; `expected` where there is none.
  virtual std::string compare_set(const std::string& key,
                                  const std::string& expected,
                                  const std::string& desired) = 0;
  /// Puts bytes behind those that are there.
  virtual void append(const std::string& key, const std::string& value) = 0;
  /// Deletes the key; true if it was there.
  virtual bool delete_key(const std::string& key) = 0;
  virtual int64_t num_keys() = 0;
  /// True if all keys are there.
  virtual bool check(const Keys& keys) = 0;
  /// Until all are there.
  virtual void wait(const Keys& keys, Millis timeout) = 0;
  /// In the keys' order; waits for all.
  virtual std::vector<std::string> multi_get(const Keys& keys);
  /// As many values as keys.
  virtual void multi_set(const Keys& keys,
                         const std::vector<std::string>& values);
  /// A queue has the name of a key and is there while it holds something:
  /// check() and wait() say so. Not in files: NotImplementedError.
  virtual void queue_push(const std::string& key, const std::string& value);
  /// Waits for something; QueueEmptyError where it may not wait.
  virtual std::string queue_pop(const std::string& key, bool block);
  virtual int64_t queue_len(const std::string& key);
  virtual Keys list_keys();
  /// Returns when so many have called it with this key.
  virtual void barrier(const std::string& key, int64_t size, Millis timeout);
  /// The same keys through another handle, for another thread.
  virtual Ref<Store> clone() { return Ref<Store>(this); }

  /// The address of this process as those see it who share the store; empty
  /// where the store knows none.
  virtual std::string local_address() { return {}; }

  Millis timeout() const { return timeout_; }
  /// Positive; ValueError otherwise.
  virtual void set_timeout(Millis timeout);

 protected:
  explicit Store(Millis timeout) { Store::set_timeout(timeout); }
  /// ValueError otherwise.
  static void check_as_many(const Keys& keys,
                            const std::vector<std::string>& values);
  [[noreturn]] static void timed_out(const Keys& keys, Millis timeout);
  [[noreturn]] static void queue_is_empty(const std::string& key);

 private:
  std::atomic<Millis> timeout_;
};

/// PyTorch's for stores, five minutes.
inline constexpr Millis kStoreTimeout = std::chrono::minutes(5);

}  // namespace hotaru::comm
