#include "hotaru/runtime/threads/future.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "hotaru/core/error.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/runtime/threads/scheduler.h"

namespace hotaru {
namespace {

std::exception_ptr error_of(const char* text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

std::string what(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

class FutureTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_num_threads(GetParam()); }
  ~FutureTest() override { set_num_threads(saved_); }
  int saved_ = get_num_threads();
};
INSTANTIATE_TEST_SUITE_P(Threads, FutureTest, ::testing::Values(1, 2, 4));

TEST(Future, IsCompletedOnce) {
  Future future;
  EXPECT_FALSE(future.done());
  EXPECT_THROW(future.value(), Error);
  EXPECT_THROW(future.set_error(nullptr), Error);
  future.set_value(3);
  EXPECT_TRUE(future.done());
  EXPECT_EQ(future.value().as_int(), 3);
  EXPECT_EQ(future.error(), nullptr);
  EXPECT_THROW(future.set_value(4), Error);
  EXPECT_THROW(future.set_error(error_of("late")), Error);
  EXPECT_FALSE(future.try_set_value(5));
  EXPECT_FALSE(future.try_set_error(error_of("late")));
  EXPECT_EQ(future.wait().as_int(), 3);
}

TEST(Future, RethrowsItsErrorToEveryReader) {
  Future future;
  future.set_error(error_of("lost"));
  EXPECT_TRUE(future.done());
  EXPECT_EQ(what(future.error()), "lost");
  EXPECT_THROW(future.value(), std::runtime_error);
  EXPECT_THROW(future.wait(), std::runtime_error);
  EXPECT_THROW(future.wait(), std::runtime_error);
}

TEST_P(FutureTest, WaitingHelpsWithQueuedWork) {
  // One task that waits for the next, a hundred deep: with fewer threads than
  // tasks that only finishes if those that wait run the others.
  std::vector<Ref<Future>> futures(101);
  for (auto& future : futures) future = make_ref<Future>();
  for (size_t i = 0; i < 100; ++i) {
    launch(
        [&, i] { futures[i]->set_value(futures[i + 1]->wait().as_int() + 1); });
  }
  launch([last = futures[100]] { last->set_value(0); });
  EXPECT_EQ(futures[0]->wait().as_int(), 100);
}

TEST_P(FutureTest, WritesBeforeCompletionAreSeenAfterWait) {
  for (int i = 0; i < 2000; ++i) {
    auto future = make_ref<Future>();
    int plain = 0;
    launch([&plain, future, i] {
      plain = i;
      future->set_value(i);
    });
    EXPECT_EQ(future->wait().as_int(), i);
    EXPECT_EQ(plain, i);
  }
}

TEST_P(FutureTest, ManyThreadsWaitForOne) {
  auto future = make_ref<Future>();
  std::atomic<int> sum{0}, called{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, future] {
      future->on_done([&](Future& f) { called += int(f.value().as_int()); });
      sum += int(future->wait().as_int());
    });
  }
  launch([future] { future->set_value(1); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum.load(), 8);
  // A callback may still run in the task; it started before the thread that
  // sees the count finished waiting, or in a thread that has ended.
  while (called.load() != 8) std::this_thread::yield();
}

TEST_P(FutureTest, OneOfManyCompletesIt) {
  for (int round = 0; round < 200; ++round) {
    auto future = make_ref<Future>();
    std::atomic<int> winners{0};
    std::vector<Ref<Future>> finished;
    for (int i = 0; i < 4; ++i) {
      auto end = make_ref<Future>();
      finished.push_back(end);
      launch([&winners, future, end, i] {
        winners += future->try_set_value(i);
        end->set_value({});
      });
    }
    collect_all(finished)->wait();
    EXPECT_EQ(winners.load(), 1);
  }
}

TEST(Future, CallbacksRunInOrderAndAtOnceWhenDone) {
  Future future;
  std::string order;
  future.on_done([&](Future&) { order += 'a'; });
  future.on_done([&](Future&) {
    order += 'b';
    throw std::runtime_error("dropped");
  });
  future.on_done([&](Future& f) {
    order += f.done() ? 'c' : '?';
    f.on_done([&](Future&) { order += 'd'; });
  });
  EXPECT_EQ(order, "");
  future.set_value({});
  EXPECT_EQ(order, "abcd");
  future.on_done([&](Future&) { order += 'e'; });
  EXPECT_EQ(order, "abcde");
}

TEST(Future, ThenChainsValuesAndErrors) {
  auto first = make_ref<Future>();
  auto doubled =
      first->then([](Future& f) { return Value(f.value().as_int() * 2); });
  auto text = doubled->then(
      [](Future& f) { return Value(concat(f.value().as_int())); });
  EXPECT_FALSE(text->done());
  first->set_value(21);
  EXPECT_EQ(text->wait().as_string(), "42");

  auto failing = make_ref<Future>();
  auto seen = failing->then([](Future& f) { return Value(what(f.error())); });
  auto passed = failing->then([](Future& f) { return f.value(); });
  auto thrown = failing->then(
      [](Future&) -> Value { throw std::runtime_error("its own"); });
  failing->set_error(error_of("first"));
  EXPECT_EQ(seen->value().as_string(), "first");
  EXPECT_EQ(what(passed->error()), "first");
  EXPECT_EQ(what(thrown->error()), "its own");
}

TEST(Future, LongChainsNeedNoStack) {
  constexpr int kLength = 200000;
  auto first = make_ref<Future>();
  Ref<Future> last = first;
  for (int i = 0; i < kLength; ++i)
    last = last->then([](Future& f) { return Value(f.value().as_int() + 1); });
  first->set_value(0);
  EXPECT_EQ(last->wait().as_int(), kLength);
}

TEST(Future, LongChainsAreReleasedWithoutStack) {
  auto first = make_ref<Future>();
  Ref<Future> last = first;
  for (int i = 0; i < 200000; ++i)
    last = last->then([](Future& f) { return f.value(); });
  last = nullptr;
  first = nullptr;  // never completed
}

TEST_P(FutureTest, CollectAllWaitsForAllAndKeepsTheirOrder) {
  std::vector<Ref<Future>> futures;
  for (int i = 0; i < 1000; ++i) futures.push_back(make_ref<Future>());
  auto all = collect_all(futures);
  for (int i = 1000; i-- > 1;)
    launch([f = futures[size_t(i)], i] { f->set_value(i); });
  EXPECT_FALSE(all->done());
  futures[0]->set_value(0);
  const std::vector<Value>& items = all->wait().as_list().items;
  ASSERT_EQ(items.size(), 1000u);
  for (int i = 0; i < 1000; ++i) {
    auto* future = dynamic_cast<Future*>(items[size_t(i)].as_object());
    ASSERT_EQ(future, futures[size_t(i)].get());
    EXPECT_EQ(future->value().as_int(), i);
  }
}

TEST(Future, CollectAllOfNothingAndOfFailures) {
  EXPECT_TRUE(collect_all({})->value().as_list().items.empty());
  EXPECT_THROW(collect_all({nullptr}), TypeError);
  auto good = make_ref<Future>();
  auto bad = make_ref<Future>();
  auto all = collect_all({good, bad});
  bad->set_error(error_of("bad"));
  ASSERT_TRUE(all->done()) << "an error is told at once";
  EXPECT_EQ(what(all->error()), "bad");
  good->set_value(1);
}

}  // namespace
}  // namespace hotaru
