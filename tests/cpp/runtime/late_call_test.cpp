#include "hotaru/runtime/streams/late_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/profiler.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

/// Call that a kernel left unfinished, for the test to finish.
struct Unfinished {
  std::atomic<LateCall*> late{nullptr};
  Ref<LateCall> kept;

  LateCall& wait() {
    late.wait(nullptr);
    return *late.load();
  }
};

void leave(const KernelCall& call) {
  auto& unfinished = *call.attributes<Unfinished*>();
  unfinished.kept = end_later(call);
  EXPECT_TRUE(unfinished.kept);
  EXPECT_EQ(end_later(call), unfinished.kept);
  unfinished.late.store(unfinished.kept.get());
  unfinished.late.notify_all();
}
void end_at_once(const KernelCall& call) {
  const Ref<LateCall> late = end_later(call);
  if (!late) throw Error("no queue runs this call");
  late->end(nullptr);
}
void set_seven(const KernelCall& call) {
  *call.tensor(0).data<float>() = 7;
}
const KernelRegistration kLeave(DeviceType::kCPU, "test_leave", &leave);
const KernelRegistration kAtOnce(DeviceType::kCPU, "test_at_once",
                                 &end_at_once);
const KernelRegistration kSeven(DeviceType::kCPU, "test_seven", &set_seven);

Tensor scalar() {
  const Tensor out = allocate({}, DType::kFloat32, Device{});
  *out.data<float>() = 0;
  return out;
}

/// A queue whose first call is left unfinished.
struct LateQueue {
  LateQueue() {
    Unfinished* pointer = &unfinished;
    const Operand operand = update(x);
    stream.enqueue(KernelCall(kernel("test_leave"), {&operand, 1}, pointer));
  }
  Stream stream = Stream::queued();
  Unfinished unfinished;
  Tensor x = scalar();
};

TEST(LateCall, holds_its_queue_until_it_ends) {
  LateQueue q;
  const Operand seven = update(q.x);
  q.stream.enqueue(KernelCall(kernel("test_seven"), {&seven, 1}));
  Event event;
  q.stream.record(event);
  LateCall& late = q.unfinished.wait();
  EXPECT_FALSE(event.query());
  std::thread([&] { late.end(nullptr); }).join();
  event.synchronize();
  EXPECT_EQ(*host_data<float>(q.x, "test"), 7);
}

TEST(LateCall, may_end_before_its_kernel_returns) {
  const Stream stream = Stream::queued();
  for (int i = 0; i < 100; ++i)
    stream.enqueue(KernelCall(kernel("test_at_once"), {}));
  stream.synchronize();
}

TEST(LateCall, is_no_other_call) {
  // An immediate stream waits for its calls.
  EXPECT_THROW(Stream(Device{}).enqueue(KernelCall(kernel("test_at_once"), {})),
               Error);
}

TEST(LateCall, fails_like_a_kernel) {
  LateQueue q;
  q.unfinished.wait().end(std::make_exception_ptr(Error("it went wrong")));
  try {
    host_data<float>(q.x, "test");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "it went wrong");
  }
  EXPECT_THROW(q.stream.synchronize(), Error);
  q.stream.synchronize();  // it was told
}

TEST(LateCall, takes_as_long_as_it_takes) {
  start_profiling();
  LateQueue q;
  LateCall& late = q.unfinished.wait();
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin <
         std::chrono::milliseconds(3)) {
  }
  late.end(nullptr);
  q.stream.synchronize();
  const std::vector<CallRecord> calls = stop_profiling().calls;
  ASSERT_EQ(calls.size(), 1);
  EXPECT_EQ(calls[0].kernel->name(), "test_leave");
  EXPECT_GE(calls[0].duration, 3'000'000);
}

}  // namespace
}  // namespace hotaru
