// fork() while other threads hold locks: the child has none of those threads.
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

#include "hotaru/core/mutex.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/threads/future.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/script/program/unit.h"
#include "tests/cpp/child.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru {
namespace {

/// Another thread that holds a lock as long as this lives.
template <class Lock>
class Held {
 public:
  explicit Held(Lock& lock)
      : thread_([this, &lock] {
          const std::lock_guard guard(lock);
          held_.set_value();
          release_.get_future().wait();
        }) {
    held_.get_future().wait();
  }
  ~Held() {
    release_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> held_, release_;
  std::thread thread_;
};

class ProcessFork : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kThreadSanitizer)
      GTEST_SKIP() << "TSan's runtime does not survive forks with threads";
  }
};

TEST_F(ProcessFork, AMutexThatALostThreadHeldIsFree) {
  Mutex mutex;
  const Held held(mutex);
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_EQ(status_of_child([&] {
              if (!mutex.lock()) _exit(1);  // says so
              if (mutex.try_lock()) _exit(2);
              mutex.unlock();
              if (mutex.lock()) _exit(3);
              mutex.unlock();
            }),
            0);
  EXPECT_FALSE(mutex.try_lock());  // nothing changes for the parent
}

TEST_F(ProcessFork, AFreeMutexStaysFree) {
  Mutex mutex;
  { const std::lock_guard lock(mutex); }
  EXPECT_EQ(status_of_child([&] {
              if (mutex.lock()) _exit(1);
            }),
            0);
}

TEST_F(ProcessFork, ManyThreadsTakeTurns) {
  Mutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80'000);
}

TEST_F(ProcessFork, ARecursiveMutexHasHalfOfWhatItGuards) {
  RecursiveMutex mutex;
  EXPECT_EQ(status_of_child(
                [&] { const std::lock_guard outer(mutex), inner(mutex); }),
            0);
  const Held held(mutex);
  EXPECT_EQ(status_of_child([&] { mutex.lock(); }), kThrew);
}

TEST_F(ProcessFork, AThreadThatForksKeepsItsOwnRecursiveMutex) {
  RecursiveMutex mutex;
  const std::lock_guard outer(mutex);
  EXPECT_EQ(status_of_child([&] { const std::lock_guard inner(mutex); }), 0);
}

TEST_F(ProcessFork, TheGeneratorDraws) {
  Generator& generator = default_generator();
  const Held held(generator.mutex());
  EXPECT_EQ(status_of_child([] { randn(Dims{1000}); }), 0);
}

TEST_F(ProcessFork, AProgramThatWasBeingCompiledSaysSo) {
  const auto unit = script::CompilationUnit::create();
  unit->define(std::make_unique<script::Source>(
                   "test.py", "def twice(x: int) -> int:\n  return 2 * x\n"),
               "__torch__");
  const Held held(unit->mutex());
  const auto call = [&] {
    (*unit->find_function("__torch__.twice"))({Value(int64_t{1})});
  };
  EXPECT_EQ(status_of_child(call), kThrew);
}

TEST_F(ProcessFork, ATaskThatIsLostIsAnError) {
  auto future = make_ref<Future>();
  EXPECT_EQ(status_of_child([&] { future->wait(); }), kThrew);
  EXPECT_EQ(status_of_child([&] {
              future->set_value(Value(int64_t{1}));
              future->wait();
            }),
            0);
}

}  // namespace
}  // namespace hotaru
