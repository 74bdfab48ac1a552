// An operation's course, written as a coroutine: it goes on when the message
// that it waits for has come or gone.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace hotaru::comm {

/// Owns the coroutine, which begins when it is awaited or, the outermost, when
/// start() is called; its exceptions go to who awaits, or are told by error().
/// Destroying it midway destroys what it has on its frame.
class Steps {
 public:
  struct promise_type {
    std::coroutine_handle<> caller;
    std::exception_ptr error;

    Steps get_return_object() {
      return Steps(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Return {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(
          std::coroutine_handle<promise_type> ended) noexcept {
        if (const auto caller = ended.promise().caller) return caller;
        return std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Return final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };

  Steps() = default;
  Steps(Steps&& other) noexcept : steps_(std::exchange(other.steps_, {})) {}
  Steps& operator=(Steps&& other) noexcept {
    std::swap(steps_, other.steps_);
    return *this;
  }
  ~Steps() {
    if (steps_) steps_.destroy();
  }

  void start() { steps_.resume(); }
  bool done() const { return steps_.done(); }
  const std::exception_ptr& error() const { return steps_.promise().error; }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    steps_.promise().caller = caller;
    return steps_;
  }
  void await_resume() const {
    if (error()) std::rethrow_exception(error());
  }

 private:
  explicit Steps(std::coroutine_handle<promise_type> steps) : steps_(steps) {}

  std::coroutine_handle<promise_type> steps_;
};

}  // namespace hotaru::comm
