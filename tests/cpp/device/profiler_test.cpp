// Profiles with the times of devices, while several threads launch.
#include "hotaru/runtime/profiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <string>
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
  const std::vector<CallRecord> records = stop_profiling().calls;
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

/// Tells whether CUPTI tells kernels apart: in software its stand-in, which is
/// opened here unless somebody has looked for the library before.
bool tells_kernels_apart() {
  const bool chooses =
      accelerator().in_software() && !getenv("HOTARU_CUDA_LIBRARIES");
  if (chooses) setenv("HOTARU_CUDA_LIBRARIES", "soft", 1);
  const std::vector<DeviceLibrary> found = accelerator().libraries("CUPTI");
  if (chooses) unsetenv("HOTARU_CUDA_LIBRARIES");
  return found.at(0).why_not.empty();
}

/// Begins and ends profiles, of calls of exp, until some were seen.
template <class F>
void profile_while_threads_launch(const F& look) {
  const Tensor x = zeros(Dims{8}, {DType::kFloat32, {DeviceType::kCUDA, 0}});
  std::atomic<bool> ended = false;
  size_t timed = 0;
  std::jthread profiles([&] {
    for (int i = 0; i < 300 || timed == 0; ++i) {
      start_profiling({.devices = true});
      std::this_thread::yield();
      const Profile found = stop_profiling();
      for (const CallRecord& record : found.calls) {
        if (!record.work) continue;
        for (const DeviceWork& work : record.work->parts) {
          // Times of another profile would not have been read.
          EXPECT_GE(work.duration, 0);
          look(record, work);
          ++timed;
        }
      }
      EXPECT_EQ(found.devices.complaint, "");
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

TEST(DeviceProfile, ProfilesMayBeginAndEndWhileThreadsLaunch) {
  setenv("HOTARU_CUPTI", "0", 1);
  profile_while_threads_launch([](const CallRecord&, const DeviceWork& work) {
    EXPECT_EQ(work.name, "exp");
  });
  unsetenv("HOTARU_CUPTI");
}

TEST(DeviceProfile, KernelsHaveTheirCallsWhateverBeginsAndEnds) {
  if (!tells_kernels_apart()) GTEST_SKIP() << "no CUPTI";
  std::map<uint32_t, const Kernel*> launches;
  profile_while_threads_launch(
      [&](const CallRecord& record, const DeviceWork& work) {
        EXPECT_EQ(std::string(record.kernel->name()), "exp");
        EXPECT_TRUE(work.name == "Exp_f32" || work.kind == WorkKind::kFill)
            << work.name;
        EXPECT_TRUE(launches.emplace(work.correlation, record.kernel).second);
        // A GPU's clock is not the host's.
        if (accelerator().in_software()) EXPECT_GE(work.start, record.start);
      });
}

}  // namespace
}  // namespace hotaru
