#include "hotaru/comm/group/device_watch.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>

#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/stream.h"
#include "tests/cpp/comm/ranks.h"

namespace hotaru::comm {
namespace {

using std::chrono::seconds;

/// Runs nowhere: a collective of its lasts until the test says so.
class StandIn final : public Communicator {
 public:
  Device device() const override { return {}; }
  std::string complaint() override {
    const std::lock_guard lock(mutex_);
    return complaint_;
  }
  void complain(std::string text) {
    const std::lock_guard lock(mutex_);
    complaint_ = std::move(text);
  }
  void close() override {}
  /// Text that it was aborted with; waits for that.
  std::string error_text() {
    try {
      std::rethrow_exception(aborted_.get_future().get());
    } catch (const std::exception& error) {
      return error.what();
    }
  }

 private:
  void give_up(const std::exception_ptr& error) override {
    aborted_.set_value(error);
  }
  std::mutex mutex_;
  std::string complaint_;
  std::promise<std::exception_ptr> aborted_;
};

struct Gate {
  std::shared_future<void> opened;
};
const KernelRegistration kGate(DeviceType::kCPU, "test::gate",
                               [](const KernelCall& call) {
                                 call.attributes<Gate>().opened.wait();
                               });

/// A stream that is held up, and what comes behind that.
class Held {
 public:
  Held() : stream_(Stream::queued()) {
    stream_.enqueue(
        KernelCall(kernel("test::gate"), {}, Gate{gate_.get_future().share()}));
    stream_.record(event_);
  }
  ~Held() { open(); }
  void open() {
    if (!opened_.exchange(true)) gate_.set_value();
  }
  const Event& event() const { return event_; }

 private:
  std::promise<void> gate_;
  Stream stream_;
  Event event_;
  std::atomic<bool> opened_{false};
};

/// A rank's side: one collective with this text is under way.
struct Side {
  Side(ProcessGroup& group, const std::string& what, Millis timeout)
      : channel(group.mesh()->open("devices", group.ranks(), group.rank())),
        watch(group.mesh(), channel),
        communicator(make_ref<StandIn>()) {
    watch.add({.communicator = communicator,
               .event = held.event(),
               .what = what,
               .peers = {},
               .number = group.mesh()->note(*channel, what),
               .timeout = timeout});
  }
  Ref<Channel> channel;
  DeviceWatch watch;
  Ref<StandIn> communicator;
  Held held;
};

TEST(DeviceWatch, NamesRanksThatDoSomethingElse) {
  const auto errors = run_ranks(2, [](ProcessGroup& group) {
    const bool first = group.rank() == 0;
    Side side(group, first ? "all_reduce of 4" : "all_reduce of 5",
              seconds(60));
    const std::string told = side.communicator->error_text();
    EXPECT_NE(told.find("Detected mismatch"), std::string::npos) << told;
    EXPECT_NE(told.find("all_reduce of 4"), std::string::npos) << told;
    EXPECT_NE(told.find("all_reduce of 5"), std::string::npos) << told;
    EXPECT_THROW(group.mesh()->note(*side.channel, "another"),
                 DistBackendError);
    group.mesh()->shut(*side.channel);
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(DeviceWatch, NamesARankThatNeverComes) {
  std::promise<void> told;
  const auto errors = run_ranks(2, [&](ProcessGroup& group) {
    if (group.rank() == 1) return told.get_future().wait();
    Side side(group, "all_reduce of 4", Millis(1200));
    const std::string why = side.communicator->error_text();
    EXPECT_NE(why.find("Timed out waiting 1200ms"), std::string::npos) << why;
    EXPECT_NE(why.find("not heard of: rank 1"), std::string::npos) << why;
    told.set_value();
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(DeviceWatch, NamesARankThatHasGone) {
  const auto errors = run_ranks(2, [](ProcessGroup& group) {
    if (group.rank() == 1) return group.mesh()->close();
    Side side(group, "all_reduce of 4", seconds(60));
    const std::string why = side.communicator->error_text();
    EXPECT_NE(why.find("rank 1 is gone"), std::string::npos) << why;
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(DeviceWatch, TellsEverybodyWhatTheLibraryFound) {
  const auto errors = run_ranks(2, [](ProcessGroup& group) {
    Side side(group, "broadcast of 4", seconds(60));
    if (group.rank() == 0) side.communicator->complain("a cable is loose");
    const std::string why = side.communicator->error_text();
    EXPECT_NE(why.find("a cable is loose"), std::string::npos) << why;
    EXPECT_NE(why.find("rank 0"), std::string::npos) << why;
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(DeviceWatch, LongOnesThatEndHarmNobody) {
  using Clock = std::chrono::steady_clock;
  const auto errors = run_ranks(2, [&](ProcessGroup& group) {
    Side side(group, "all_reduce of 4", seconds(60));
    // So long that it is told to the others.
    const Collective barrier;
    const auto begin = Clock::now();
    for (bool on = true; on;) {
      Tensor go = allocate(std::array{int64_t{1}}, DType::kUInt8, {});
      *static_cast<uint8_t*>(go.raw_data()) =
          Clock::now() - begin < Millis(900);
      group.issue({.kind = CollectiveKind::kBroadcast, .outputs = {go}});
      on = *static_cast<uint8_t*>(go.raw_data());
    }
    side.held.open();
    side.held.event().synchronize();
    group.issue(barrier);
    EXPECT_EQ(side.communicator->error(), nullptr);
    EXPECT_EQ(group.mesh()->note(*side.channel, "the next"), 2U);
    group.issue(barrier);
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace hotaru::comm
