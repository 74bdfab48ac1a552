// A system that has no more threads: an error, and the process goes on.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "hotaru/core/error.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/queue.h"
#include "hotaru/runtime/threads/future.h"
#include "hotaru/runtime/threads/parallel.h"
#include "tests/cpp/child.h"
#include "tests/cpp/sanitizers.h"

namespace hotaru {
namespace {

constexpr uid_t kNobody = 65534;  // the limit does not hold for root

void take_threads_away() {
  const rlimit none{0, 0};
  if (setuid(kNobody) != 0 && geteuid() == 0) _exit(10);
  if (setrlimit(RLIMIT_NPROC, &none) != 0) _exit(11);
}

template <class F>
bool says_so(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.what()).find("no more threads") !=
           std::string::npos;
  }
  return false;
}

class NoThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kThreadSanitizer)
      GTEST_SKIP() << "TSan's runtime does not survive forks with threads";
  }
};

TEST_F(NoThreads, AQueuedCallIsRefusedAndNothingWaitsForIt) {
  EXPECT_EQ(status_of_child([] {
              const Stream stream = Stream::queued();
              take_threads_away();
              const Tensor x = ones(Dims{4});
              if (!says_so([&] {
                    const StreamGuard guard(stream);
                    add(x, x);
                  }))
                _exit(1);
              Event event;
              if (!says_so([&] { stream.record(event); })) _exit(2);
              stream.synchronize();
              synchronize_all();  // as at exit
            }),
            0);
}

TEST_F(NoThreads, ALaunchIsRefused) {
  EXPECT_EQ(status_of_child([] {
              take_threads_away();
              if (!says_so([] { launch([] {}); })) _exit(1);
            }),
            0);
}

TEST_F(NoThreads, LoopsRunInTheirCaller) {
  EXPECT_EQ(status_of_child([] {
              set_num_threads(4);
              take_threads_away();
              const Tensor x = ones(Dims{300, 300});
              const Tensor y = matmul(x, x);
              if (y.data<float>()[299] != 300) _exit(1);
            }),
            0);
}

}  // namespace
}  // namespace hotaru
