// The promises of hotaru/platform, which a port to another system must keep.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "hotaru/platform/file_system.h"
#include "hotaru/platform/fork.h"
#include "hotaru/platform/futex.h"
#include "hotaru/platform/pages.h"
#include "hotaru/platform/process.h"
#include "hotaru/platform/processors.h"
#include "hotaru/platform/shared_object.h"
#include "hotaru/platform/thread.h"
#include "hotaru/platform/wake_event.h"

namespace hotaru::platform {
namespace {

using std::chrono::milliseconds;

TEST(Futex, TellsThatTheTimePassed) {
  const std::atomic<uint32_t> word{7};
  EXPECT_FALSE(futex_wait(word, 7, milliseconds(1)));
  EXPECT_TRUE(futex_wait(word, 6, std::chrono::hours(1)));
}

TEST(Futex, WakesOneThatSleeps) {
  std::atomic<uint32_t> word{0};
  std::thread sleeper([&] {
    while (word.load() == 0) futex_wait(word, 0, std::chrono::hours(1));
  });
  word.store(1);
  futex_wake_one(&word);
  sleeper.join();
}

TEST(Processors, AThreadRunsWhereItMay) {
  std::thread([] {
    ProcessorSet allowed;
    ASSERT_TRUE(allowed_processors(allowed));
    ASSERT_GT(allowed.count(), 0);
    int last = ProcessorSet::kMost - 1;
    while (!allowed.has(last)) --last;
    ProcessorSet one;
    one.add(last);
    EXPECT_EQ(one.count(), 1);
    ASSERT_TRUE(restrict_thread(0, one));
    EXPECT_EQ(current_processor(), last);
    ASSERT_TRUE(restrict_thread(thread_id(), allowed));
    ProcessorSet now;
    ASSERT_TRUE(allowed_processors(now));
    EXPECT_EQ(now.count(), allowed.count());
  }).join();
}

TEST(Threads, HaveNumbersOfTheirOwn) {
  const int mine = thread_id();
  EXPECT_EQ(mine, thread_id());
  int other = mine;
  std::thread([&] { other = thread_id(); }).join();
  EXPECT_NE(mine, other);
}

TEST(Threads, TakeNoSignalsThatAreBlocked) {
  const auto blocks = [] {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    return sigismember(&now, SIGUSR1) == 1;
  };
  ASSERT_FALSE(blocks());
  bool started_blocked = false;
  {
    const SignalsBlocked blocked;
    std::thread([&] { started_blocked = blocks(); }).join();
  }
  EXPECT_TRUE(started_blocked);
  EXPECT_FALSE(blocks());
}

TEST(Threads, StandOnTheirStack) {
  const StackBounds bounds = this_thread_stack();
  // The frame's address: AddressSanitizer keeps variables elsewhere.
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  EXPECT_LT(bounds.lowest, here);
  EXPECT_LT(here, bounds.end);
}

TEST(Threads, ClockCountsWorkAndNoSleep) {
  const ThreadClock clock = ThreadClock::of_this_thread();
  const auto before = clock.used();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_LT(clock.used() - before, milliseconds(25));
  while (clock.used() - before < milliseconds(2)) {
  }
  std::chrono::nanoseconds seen{};  // by another thread
  std::thread([&] { seen = clock.used(); }).join();
  EXPECT_GE(seen - before, milliseconds(2));
}

TEST(Pages, ReadAsZeroAgain) {
  const size_t bytes = 4 * page_size();
  char* pages = map_pages(bytes);
  ASSERT_TRUE(pages);
  wish_large_pages(pages, bytes);
  std::memset(pages, 1, bytes);
  empty_pages(pages + page_size(), page_size());
  EXPECT_EQ(pages[page_size() - 1], 1);
  EXPECT_EQ(pages[page_size()], 0);
  EXPECT_EQ(pages[2 * page_size()], 1);
  unmap_pages(pages, bytes);
}

TEST(Pages, OfAMemoryFileAreShared) {
  const int file = new_memory_file("test");
  ASSERT_GE(file, 0);
  const size_t bytes = page_size();
  ASSERT_EQ(::ftruncate(file, off_t(bytes)), 0);
  auto* one = static_cast<char*>(map_shared(file, bytes, false));
  auto* other = static_cast<char*>(map_shared(file, bytes, true));
  auto* own = static_cast<char*>(map_file(file, bytes));
  ASSERT_TRUE(one && other && own);
  own[0] = 3;
  one[0] = 5;
  EXPECT_EQ(other[0], 5);
  EXPECT_EQ(own[0], 3);
  for (char* pages : {one, other, own}) unmap_pages(pages, bytes);
  ::close(file);
  EXPECT_EQ(map_file(file, bytes), nullptr);
}

TEST(WakeEvents, EndAPoll) {
  const WakeEvent event;
  ASSERT_TRUE(event);
  pollfd polled{event.descriptor(), POLLIN, 0};
  event.clear();  // which is not set, and does not wait
  EXPECT_EQ(::poll(&polled, 1, 0), 0);
  event.set();
  event.set();
  EXPECT_EQ(::poll(&polled, 1, 0), 1);
  event.clear();
  EXPECT_EQ(::poll(&polled, 1, 0), 0);
}

int order = 0, before = 0, in_parent = 0;

TEST(Fork, CallsItsHandlers) {
  static int in_child = 0;
  at_fork([] { before = ++order; }, [] { in_parent = ++order; },
          [] { in_child = ++order; });
  const pid_t child = ::fork();
  if (child == 0) ::_exit(before == 1 && in_child == 2 && in_parent == 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(before, 1);
  EXPECT_EQ(in_parent, 2);
  EXPECT_EQ(in_child, 0);
}

TEST(SharedObjects, SayWhyTheyCannotBeOpened) {
  std::string why_not;
  EXPECT_FALSE(open_library("libno_such_library.so", &why_not));
  EXPECT_NE(why_not.find("libno_such_library.so"), why_not.npos) << why_not;
  EXPECT_FALSE(open_library("libno_such_library.so", nullptr));
  const std::string own =
      library_of(reinterpret_cast<const void*>(&open_library));
  void* library = open_library(own, &why_not);
  ASSERT_TRUE(library) << why_not;
  EXPECT_FALSE(symbol_of(library, "no_such_symbol"));
}

TEST(Process, KnowsItsProgram) {
  EXPECT_EQ(::access(executable_path().c_str(), X_OK), 0);
}

TEST(FileSystem, ReservesRoom) {
  const std::string path = ::testing::TempDir() + "reserve_room";
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_TRUE(file);
  EXPECT_EQ(reserve_room(::fileno(file), 5000), 0);
  EXPECT_EQ(reserve_room(::fileno(file), int64_t{1} << 62), EFBIG);
  std::fclose(file);
  EXPECT_FALSE(has_access_list(path));
  EXPECT_FALSE(names_open_files(::testing::TempDir()));
  EXPECT_TRUE(names_open_files("/proc/self/fd"));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace hotaru::platform
