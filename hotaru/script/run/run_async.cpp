// Programs as tasks: fork, and what waits without holding a thread.
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/threads/scheduler.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/run/foreign.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/run/interpreter_impl.h"

namespace hotaru::script {

namespace {

// State of a thread as far as a program sees it.
struct ThreadState {
  bool grad = autograd::grad_enabled();
  bool inference = autograd::inference_mode();
  autocast::State autocast = autocast::state();
  CurrentStreams streams;
};

// Gives a scope another thread's state; keeps in `state` what became of it.
class ThreadStateGuard {
 public:
  explicit ThreadStateGuard(ThreadState& state)
      : state_(state), streams_(state.streams) {
    put(state_);
    // No scope ends here in which the program's casts would be let go.
    autocast::set_cache_enabled(false);
  }
  ~ThreadStateGuard() {
    state_ = {};
    put(saved_);
  }
  ThreadStateGuard(const ThreadStateGuard&) = delete;
  ThreadStateGuard& operator=(const ThreadStateGuard&) = delete;

 private:
  static void put(const ThreadState& state) {
    autograd::set_grad_enabled(state.grad);
    autograd::set_inference_mode(state.inference);
    autocast::set_state(state.autocast);
  }

  ThreadState& state_;
  ThreadState saved_;
  CurrentStreamsGuard streams_;
};

// A program on the pool. Each run() is its stretch up to the next wait.
class AsyncRun final : public Task {
 public:
  AsyncRun(Function& function, std::vector<Value> arguments)
      : unit_(function.unit().shared_from_this()),
        function_(function),
        arguments_(std::move(arguments)) {}

  const Ref<Future>& future() const { return future_; }

  void run() override {
    Ref<Future> awaited;
    try {
      Value value = advance(awaited);
      if (!awaited) return finish([&](Future& f) { f.set_value(value); });
    } catch (...) {
      std::exception_ptr error = std::current_exception();
      return finish([&](Future& f) { f.set_error(error); });
    }
    // The registers hold the future, so it cannot vanish with its callback.
    // From here on another thread may run this task, or delete it.
    awaited->on_done([this](Future&) { Scheduler::instance().launch(*this); });
  }

 private:
  Value advance(Ref<Future>& awaited) {
    const ThreadStateGuard guard(state_);
    Interpreter interpreter(thread_stack());
    interpreter.set_suspends();
    Value value;
    if (started_) {
      value = interpreter.resume(suspended_);
    } else {
      started_ = true;
      value = interpreter.run(function_.code(), arguments_);
      arguments_ = {};
    }
    awaited = interpreter.awaited();
    if (awaited) suspended_ = interpreter.suspend();
    return value;
  }

  // The values of the program are let go before anybody learns of its end.
  template <class Complete>
  void finish(const Complete& complete) {
    const Ref<Future> future = std::move(future_);
    const std::shared_ptr<CompilationUnit> unit = std::move(unit_);
    delete this;
    complete(*future);
  }

  // Keeps the functions alive.
  std::shared_ptr<CompilationUnit> unit_;
  Function& function_;
  std::vector<Value> arguments_;
  bool started_ = false;
  ThreadState state_;
  Suspended suspended_;
  Ref<Future> future_ = make_ref<Future>();
};

// A call of a program's function that nobody has asked for yet.
class AwaitedFunction final : public AwaitedCall {
 public:
  AwaitedFunction(Function& function, std::vector<Value> arguments)
      : unit_(function.unit().shared_from_this()),
        function_(function),
        arguments_(std::move(arguments)) {}

  Value wait() override {
    const std::lock_guard lock(mutex_);
    if (!done_) {
      std::vector<Value> arguments = arguments_;
      value_ = run(function_.code(), std::move(arguments));
      done_ = true;
    }
    return value_;
  }

 private:
  std::shared_ptr<CompilationUnit> unit_;
  Function& function_;
  std::vector<Value> arguments_;
  // One of the threads that wait makes the call, which may wait itself.
  std::recursive_mutex mutex_;
  bool done_ = false;
  Value value_;
};

}  // namespace

Ref<AwaitedCall> make_awaited(Function& function,
                              std::vector<Value> arguments) {
  return make_ref<AwaitedFunction>(function, std::move(arguments));
}

Future& future_of(const Value& value) {
  auto* future =
      value.is_object() ? dynamic_cast<Future*>(value.as_object()) : nullptr;
  HOTARU_CHECK_AS(TypeError, future, "wait() needs a Future, not '",
                  value.type_name(), "'");
  return *future;
}

Ref<Future> run_async(Function& function, std::vector<Value> arguments) {
  auto task = std::make_unique<AsyncRun>(function, std::move(arguments));
  Ref<Future> future = task->future();
  Scheduler::instance().launch(*task);
  (void)task.release();  // it deletes itself
  return future;
}

}  // namespace hotaru::script
