// Values that some thread will provide.
#pragma once

#include <exception>
#include <functional>

#include "ATen/core/ivalue.h"
#include "hotaru/runtime/threads/future.h"

namespace c10::ivalue {

/// A handle to hotaru::Future. Thread-safe.
class Future final : public intrusive_ptr_target {
 public:
  Future() : future_(hotaru::make_ref<hotaru::Future>()) {}
  explicit Future(hotaru::Ref<hotaru::Future> future)
      : future_(std::move(future)) {}

  /// Meanwhile this thread runs queued tasks of the pool.
  void wait() const {
    try {
      future_->wait();
    } catch (...) {
      // value() tells.
    }
  }
  /// Also throws the error the future failed with.
  void waitAndThrow() const { future_->wait(); }
  bool completed() const { return future_->done(); }
  bool hasError() const { return completed() && future_->error(); }
  bool hasValue() const { return completed() && !future_->error(); }
  IValue value() const { return IValue(future_->value()); }
  std::exception_ptr exception_ptr() const { return future_->error(); }
  void markCompleted(const IValue& value = {}) const {
    future_->set_value(value.hotaru_value());
  }
  void setError(std::exception_ptr error) const {
    future_->set_error(std::move(error));
  }
  void addCallback(std::function<void(Future&)> callback) const {
    future_->on_done([callback = std::move(callback)](hotaru::Future& done) {
      Future future{hotaru::Ref<hotaru::Future>(&done)};
      callback(future);
    });
  }
  const hotaru::Ref<hotaru::Future>& hotaru_future() const { return future_; }

 private:
  hotaru::Ref<hotaru::Future> future_;
};

}  // namespace c10::ivalue
