#include "hotaru/runtime/threads/admission.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "hotaru/runtime/threads/blocking.h"
#include "hotaru/runtime/threads/scheduler.h"
#include "hotaru/runtime/threads/working_memory.h"

namespace hotaru {
namespace {

using std::chrono::steady_clock;

/// Lets threads wait for each other.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

template <class Condition>
void until(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

void compute(std::chrono::microseconds time) {
  const auto end = steady_clock::now() + time;
  while (steady_clock::now() < end) {
  }
}

constexpr std::chrono::hours kForGood{1};
constexpr std::chrono::microseconds kAll{0};  // short calls need a place, too

/// A thread that called once and is counted since: one caller alone takes no
/// place.
class Known {
 public:
  explicit Known(Admission& admission)
      : thread_([&] {
          { const AdmittedCall call(admission); }
          called_.open();
          end_.wait();
        }) {
    called_.wait();
  }
  ~Known() {
    end_.open();
    thread_.join();
  }

 private:
  Gate called_, end_;
  std::thread thread_;
};

/// Callers that compute and so keep their places until told to end.
class Busy {
 public:
  Busy(Admission& admission, int count) {
    for (int i = 0; i < count; ++i) {
      std::atomic<bool> started{false};
      threads_.emplace_back([&] {
        const AdmittedCall call(admission);
        started = true;
        while (!end_) compute(std::chrono::microseconds(20));
      });
      until([&] { return started.load(); });
    }
  }
  ~Busy() { end(); }
  void end() {
    end_ = true;
    for (std::thread& t : threads_)
      if (t.joinable()) t.join();
  }

 private:
  std::atomic<bool> end_{false};
  std::vector<std::thread> threads_;
};

TEST(Admission, NeverMoreThanThereArePlaces) {
  Admission admission(2, kForGood, kAll);
  admission.set_ordered(true);
  std::atomic<int> inside{0}, most{0}, calls{0};
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      { const AdmittedCall known(admission); }
      ++ready;
      until([&] { return ready == 8; });
      for (int n = 0; n < 300; ++n) {
        const AdmittedCall call(admission);
        const int now = ++inside;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        compute(std::chrono::microseconds(10));
        --inside;
        ++calls;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(calls, 8 * 300);
  EXPECT_LE(most, 2);
  EXPECT_EQ(admission.running(), 0);
  EXPECT_EQ(admission.waiting(), 0);
}

TEST(Admission, InOrderOfArrival) {
  Admission admission(1, kForGood);
  admission.set_ordered(true);
  const Known other(admission);
  Busy busy(admission, 1);
  until([&] { return admission.running() == 1; });
  std::vector<int> order;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const AdmittedCall call(admission);
      const std::lock_guard lock(mutex);
      order.push_back(i);
    });
    until([&] { return admission.waiting() == i + 1; });
  }
  busy.end();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(Admission, FewCallersTakeNoPlaces) {
  Admission admission(2);
  admission.set_ordered(true);
  const AdmittedCall call(admission);
  EXPECT_EQ(admission.running(), 0);
}

TEST(Admission, CallsWithinACallNeedNoPlace) {
  Admission admission(1);
  admission.set_ordered(true);
  const Known other(admission);
  std::thread caller([&] {
    const AdmittedCall outer(admission);
    EXPECT_EQ(admission.running(), 1);
    {
      const AdmittedCall inner(admission);
      EXPECT_EQ(admission.running(), 1);
    }
    EXPECT_EQ(admission.running(), 1);
  });
  caller.join();
  EXPECT_EQ(admission.running(), 0);
}

TEST(Admission, WhoeverWaitsGivesItsPlaceUp) {
  Admission admission(1);
  admission.set_ordered(true);
  Gate entered, go_on, ended;
  std::thread first([&] {
    { const AdmittedCall known(admission); }
    entered.wait();
    const AdmittedCall call(admission);
    const BlockingRegion region;
    EXPECT_EQ(admission.running(), 0);
    go_on.open();
    ended.wait();
  });
  std::thread second([&] {
    { const AdmittedCall known(admission); }
    entered.open();
    go_on.wait();
    {
      const AdmittedCall call(admission);
      EXPECT_EQ(admission.running(), 1);
    }
    ended.open();
  });
  first.join();
  second.join();
  EXPECT_EQ(admission.running(), 0);
}

/// A caller sleeps on a lock of the program's own, which only a caller behind
/// it in line opens: nobody is told, and yet it ends.
TEST(Admission, WhoeverWaitsUnseenLendsItsPlace) {
  Admission admission(1);
  admission.set_ordered(true);
  Gate gate;
  std::vector<std::thread> threads;
  std::atomic<int> known{0};
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      { const AdmittedCall once(admission); }
      ++known;
      until([&] { return known == 3; });
      if (i == 2) until([&] { return admission.waiting() == 1; });
      const AdmittedCall call(admission);
      i == 2 ? gate.open() : gate.wait();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(admission.running(), 0);
}

/// The thread's usual call is so short that it goes beside those with a place.
TEST(Admission, ShortCallsNeedNoPlace) {
  Admission admission(1, kForGood, std::chrono::hours(1));
  admission.set_ordered(true);
  const Known other(admission);
  std::thread caller([&] {
    const AdmittedCall call(admission);
    EXPECT_EQ(admission.running(), 0);
  });
  caller.join();
}

/// Whoever comes next works in the memory of the one that left: two callers of
/// one place have one between them.
TEST(Admission, WorkingMemoryGoesWithThePlace) {
  Admission admission(1, kForGood, kAll);
  admission.set_ordered(true);
  const Known other(admission);
  Gate waits;
  void *first = nullptr, *second = nullptr;
  std::thread leaves([&] {
    { const AdmittedCall known(admission); }
    const AdmittedCall call(admission);
    first = WorkingMemory::here().buffer(0, 100);
    waits.open();
    until([&] { return admission.waiting() == 1; });
  });
  std::thread comes([&] {
    waits.wait();
    const AdmittedCall call(admission);
    second = WorkingMemory::here().buffer(0, 100);
  });
  leaves.join();
  comes.join();
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(first, second);
}

/// A call that only waits for something goes on in its own memory.
TEST(Admission, WhoeverWaitsKeepsItsMemory) {
  Admission admission(1, kForGood, kAll);
  admission.set_ordered(true);
  const Known other(admission);
  Gate paused, gone;
  std::thread waits([&] {
    const AdmittedCall call(admission);
    void* const mine = WorkingMemory::here().buffer(0, 100);
    paused.open();
    until([&] { return admission.waiting() == 1; });
    {
      const BlockingRegion region;
      gone.wait();
    }
    EXPECT_EQ(WorkingMemory::here().buffer(0, 100), mine);
  });
  std::thread comes([&] {
    paused.wait();
    {
      const AdmittedCall call(admission);
      WorkingMemory::here().buffer(0, 1 << 20);
    }
    gone.open();
  });
  waits.join();
  comes.join();
}

TEST(Admission, OffLetsAllGo) {
  Admission admission(1);
  admission.set_ordered(true);
  Busy busy(admission, 2);  // the first one was counted before it was too many
  std::thread waits([&] { const AdmittedCall call(admission); });
  until([&] { return admission.waiting() == 1; });
  admission.set_ordered(false);
  waits.join();
  EXPECT_EQ(admission.waiting(), 0);
  busy.end();
  EXPECT_EQ(admission.running(), 0);
}

TEST(Admission, AChildHasPlacesOfItsOwn) {
  ASSERT_TRUE(Admission::instance().ordered());
  const AdmittedCall call;
  const Busy busy(Admission::instance(), 1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    { const AdmittedCall call; }
    _exit(Admission::instance().running() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hotaru
