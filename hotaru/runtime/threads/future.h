// Results that are not there yet: the hand-over between tasks, threads and
// TorchScript's fork and wait.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "hotaru/core/mutex.h"
#include "hotaru/core/ref.h"
#include "hotaru/core/value.h"

namespace hotaru {

class Completion;

/// A value or an error that some thread will provide, once. Any number of
/// threads may use one future at a time; it lives as long as somebody holds a
/// Ref to it, so whoever completes it holds one, too:
///
///   auto sum = make_ref<Future>();
///   launch([=] { sum->set_value(add_up(data)); });
///   ...
///   int64_t total = sum->wait().as_int();
class Future final : public RefCounted {
 public:
  using Callback = std::function<void(Future&)>;

  Future() = default;
  ~Future() override;

  /// Each completes the future: what was written before is visible to whoever
  /// sees it done. Error if it is complete already.
  void set_value(Value value);
  void set_error(std::exception_ptr error);
  /// The same for one of several that report; false, without effect, if it is
  /// complete already.
  bool try_set_value(Value value);
  bool try_set_error(std::exception_ptr error);

  bool done() const { return done_.load(std::memory_order_acquire); }

  /// The value; rethrows the error. Error unless done().
  const Value& value() const;
  /// Null unless the future is complete and failed.
  std::exception_ptr error() const;

  /// Blocks until done(), then as value(). Meanwhile this thread runs queued
  /// tasks of the pool, so waiting inside a task starves nobody. Tasks that
  /// wait for each other should rather use then(): a task runs on top of the
  /// one that waits, which cannot go on before it has finished. Error in the
  /// child of a fork that lost the task.
  const Value& wait();

  /// Calls back once: in the thread that completes the future, after those
  /// that wait were released, in the order of registration; or at once in this
  /// thread if it is complete. (Where callbacks complete futures more than 64
  /// deep, the next run on the pool.) Exceptions of the callback are dropped.
  void on_done(Callback callback);

  /// A future for what the callback returns or throws; it is called with this
  /// future, done, under the rules of on_done.
  Ref<Future> then(std::function<Value(Future&)> callback);

 private:
  bool complete(Value value, std::exception_ptr error);
  static void call(const std::vector<Callback>& callbacks, Future& future);

  std::atomic<bool> done_{false};
  mutable Mutex mutex_;  // guards the rest until done_
  Value value_;
  std::exception_ptr error_;
  std::vector<Callback> callbacks_;
  std::shared_ptr<Completion> waiters_;  // made by the first that waits
  const uint32_t made_in_ = fork_count();
};

/// A future whose value is the list of the given ones, complete when all of
/// them are; it fails with the error of the first that fails, at once.
Ref<Future> collect_all(std::vector<Ref<Future>> futures);

}  // namespace hotaru
