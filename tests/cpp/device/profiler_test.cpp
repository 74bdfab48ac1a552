// Profiles with the times of devices, while several threads launch.
#include "hotaru/runtime/profiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operators.h"
#include "hotaru/runtime/accelerator.h"

namespace hotaru {
namespace {

constexpr int kThreads = 4;

/// Runs f() in some threads.
template <class F>
void in_threads(const F& f) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(f);
}

TEST(DeviceProfile, CallsOfAStreamAreTimedInTurnWhoeverMakesThem) {
  constexpr int kCalls = 1000;
  setenv("HOTARU_CUPTI", "0", 1);  // events around each call
  const Tensor x = zeros(Dims{8}, {DType::kFloat32, {DeviceType::kCUDA, 0}});
  // With a second stream in use, each stream's calls wait for each other
  // anyway.
  start_profiling({.devices = true});
  in_threads([&] {
    for (int i = 0; i < kCalls; ++i) exp(x);
  });
  synchronize_profiled();
  const std::vector<CallRecord> records = stop_profiling();
  unsetenv("HOTARU_CUPTI");
  ASSERT_EQ(records.size(), size_t(kThreads * kCalls));
  std::map<int64_t, int64_t> spans;
  for (const CallRecord& record : records) {
    ASSERT_EQ(record.work->parts.size(), 1u);
    const DeviceWork& work = record.work->parts[0];
    ASSERT_GE(work.duration, 0);
    ASSERT_GE(work.start, record.start);
    spans.emplace(work.start, work.start + work.duration);
  }
  int64_t free = 0;
  for (const auto& [start, end] : spans) {
    ASSERT_GE(start, free);
    free = end;
  }
}

TEST(DeviceProfile, ProfilesMayBeginAndEndWhileThreadsLaunch) {
  const Tensor x = zeros(Dims{8}, {DType::kFloat32, {DeviceType::kCUDA, 0}});
  std::atomic<bool> ended = false;
  size_t timed = 0;
  std::jthread profiles([&] {
    for (int i = 0; i < 300 || timed == 0; ++i) {
      start_profiling({.devices = true});
      std::this_thread::yield();
      for (const CallRecord& record : stop_profiling()) {
        // Times of another profile would not have been read.
        if (!record.work) continue;
        for (const DeviceWork& work : record.work->parts) {
          EXPECT_GE(work.duration, 0);
          ++timed;
        }
      }
    }
    ended = true;
  });
  in_threads([&] {
    while (!ended) {
      for (int i = 0; i < 20; ++i) exp(x);
      accelerator().synchronize(0);
    }
  });
  profiles.join();
  EXPECT_GT(timed, 0u);
  accelerator().synchronize(0);
}

}  // namespace
}  // namespace hotaru
