// Threads that share streams, one interpreter and too little memory: nobody
// waits for somebody who waits for him.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "hotaru/core/special_errors.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru {
namespace {

// A host language's lock, which its threads hold while they call operators.
std::mutex interpreter;
thread_local bool holding = false;

const BlockingHooks kHooks{[]() -> void* {
                             if (!holding) return nullptr;
                             holding = false;
                             interpreter.unlock();
                             return &interpreter;
                           },
                           [](void* state) {
                             if (!state) return;
                             interpreter.lock();
                             holding = true;
                           }};

/// One program: memory of a stream that the other one uses too, and a kernel
/// that takes more while it is launched.
void run(const std::vector<Stream>& streams, std::mt19937& random) {
  const size_t mine = random() % 2;
  Tensor x;
  {
    const StreamGuard guard(streams[mine]);
    x = empty(Dims{int64_t(300000 + random() % 700000)},
              {DType::kFloat32, Device{DeviceType::kCUDA, 0}});
    const Tensor few = narrow(x, 0, 0, 3000);
    zero_(few);
    cumsum(few, 0);
  }
  const StreamGuard guard(streams[1 - mine]);
  cumsum(narrow(x, 0, 0, 3000), 0);
}

TEST(MemoryPressure, ThreadsThatShareStreamsAndTheInterpreterGetOn) {
  Accelerator& cuda = accelerator();
  const size_t total = cuda.memory_info(0).second;
  cuda.release_unused();
  // Too little for all threads, enough for any two.
  constexpr size_t kLimit = size_t{28} << 20;
  cuda.set_memory_fraction(0, double(kLimit) / double(total));
  set_blocking_hooks(&kHooks);
  const std::vector<Stream> streams = {cuda.make_stream(0, 0),
                                       cuda.make_stream(0, 0)};
  std::atomic<int> done{0}, refused{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 50; ++i) {
        interpreter.lock();
        holding = true;
        try {
          run(streams, random);
          ++done;
        } catch (const OutOfMemoryError&) {
          ++refused;
        }
        holding = false;
        interpreter.unlock();
      }
    });
  for (std::thread& thread : threads) thread.join();
  set_blocking_hooks(nullptr);
  cuda.synchronize(0);
  EXPECT_EQ(done + refused, 200);
  EXPECT_GT(done, 20);
  EXPECT_GT(cuda.memory_stats(0).retries, 0);
  cuda.set_memory_fraction(0, 1);
}

}  // namespace
}  // namespace hotaru
