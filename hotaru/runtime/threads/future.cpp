#include "hotaru/runtime/threads/future.h"

#include <mutex>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {
namespace {

// Callbacks that complete futures, whose callbacks complete futures, ...: so
// deep in one thread, which bounds its stack.
constexpr int kMaxNesting = 64;
constinit thread_local int nesting = 0;
// Callbacks of futures that nobody will complete, while some are let go.
constinit thread_local std::vector<Future::Callback>* dropped = nullptr;

constexpr const char* kTwice =
    "Attempting to mark a completed Future as complete again. Note that a "
    "Future can only be marked completed once.";

}  // namespace

// A chain of then() that was never completed is released link by link, not
// recursively.
Future::~Future() {
  if (callbacks_.empty()) return;
  if (dropped) {
    for (Callback& callback : callbacks_)
      dropped->push_back(std::move(callback));
    return;
  }
  std::vector<Callback> rest = std::move(callbacks_);
  dropped = &rest;
  while (!rest.empty()) {
    const Callback last = std::move(rest.back());
    rest.pop_back();
  }
  dropped = nullptr;
}

void Future::call(const std::vector<Callback>& callbacks, Future& future) {
  ++nesting;
  for (const Callback& callback : callbacks) {
    try {
      callback(future);
    } catch (...) {  // documented at on_done
    }
  }
  --nesting;
}

bool Future::complete(Value value, std::exception_ptr error) {
  std::vector<Callback> callbacks;
  std::shared_ptr<Completion> waiters;
  {
    std::lock_guard lock(mutex_);
    if (done()) return false;
    value_ = std::move(value);
    error_ = std::move(error);
    callbacks.swap(callbacks_);
    waiters.swap(waiters_);
    done_.store(true, std::memory_order_release);
  }
  if (waiters) waiters->set();
  if (callbacks.empty()) return true;
  if (nesting < kMaxNesting) {
    call(callbacks, *this);
  } else {
    launch([self = Ref<Future>(this), callbacks = std::move(callbacks)] {
      call(callbacks, *self);
    });
  }
  return true;
}

void Future::set_value(Value value) {
  HOTARU_CHECK(complete(std::move(value), nullptr), kTwice);
}

void Future::set_error(std::exception_ptr error) {
  HOTARU_CHECK(error, "Future::set_error: there is no exception");
  HOTARU_CHECK(complete({}, std::move(error)), kTwice);
}

bool Future::try_set_value(Value value) {
  return complete(std::move(value), nullptr);
}

bool Future::try_set_error(std::exception_ptr error) {
  HOTARU_CHECK(error, "Future::try_set_error: there is no exception");
  return complete({}, std::move(error));
}

const Value& Future::value() const {
  HOTARU_CHECK(done(),
               "Future::value: the future is not complete; wait for "
               "it first");
  if (error_) std::rethrow_exception(error_);
  return value_;
}

std::exception_ptr Future::error() const {
  return done() ? error_ : nullptr;
}

const Value& Future::wait() {
  if (!done()) {
    HOTARU_CHECK(made_in_ == fork_count(),
                 "Future::wait: the task was launched before this process was "
                 "forked, and the fork lost it");
    std::shared_ptr<Completion> completion;
    {
      std::lock_guard lock(mutex_);
      if (!done()) {
        if (!waiters_) waiters_ = std::make_shared<Completion>();
        completion = waiters_;
      }
    }
    if (completion) completion->wait();
  }
  return value();
}

void Future::on_done(Callback callback) {
  if (!done()) {
    std::lock_guard lock(mutex_);
    if (!done()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  call({std::move(callback)}, *this);
}

Ref<Future> Future::then(std::function<Value(Future&)> callback) {
  auto result = make_ref<Future>();
  on_done([result, callback = std::move(callback)](Future& future) {
    try {
      result->set_value(callback(future));
    } catch (...) {
      // Fails only if somebody else completed the result.
      result->try_set_error(std::current_exception());
    }
  });
  return result;
}

Ref<Future> collect_all(std::vector<Ref<Future>> futures) {
  struct All {
    std::atomic<size_t> missing;
    Ref<Future> result = make_ref<Future>();
    std::vector<Value> futures;
  };
  auto all = std::make_shared<All>();
  for (const Ref<Future>& future : futures) {
    HOTARU_CHECK_AS(TypeError, future, "collect_all: a future is null");
    all->futures.push_back(Value::from_object(future));
  }
  all->missing = futures.size();
  Ref<Future> result = all->result;
  if (futures.empty()) result->set_value(Value::list({}));
  for (const Ref<Future>& future : futures) {
    future->on_done([all](Future& one) {
      if (std::exception_ptr error = one.error())
        all->result->try_set_error(std::move(error));
      else if (all->missing.fetch_sub(1) == 1)
        all->result->try_set_value(Value::list(std::move(all->futures)));
    });
  }
  return result;
}

}  // namespace hotaru
