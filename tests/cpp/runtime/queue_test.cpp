// Queued streams: real asynchrony, order within and between streams, errors.
#include "hotaru/runtime/streams/queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <numeric>
#include <thread>

#include "hotaru/autograd/leaf.h"
#include "hotaru/backend/cpu/block_cache.h"
#include "hotaru/backend/cpu/random/cpu_generator.h"
#include "hotaru/core/error.h"
#include "hotaru/engine/engine.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/runtime/profiler.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

/// A door that a kernel waits at until the test opens it.
struct Gate {
  std::atomic<bool> reached{false}, open{false};
  void pass() {
    reached = true;
    reached.notify_all();
    open.wait(false);
  }
  void release() {
    open = true;
    open.notify_all();
  }
  /// A thread that opens the gate once a kernel waits at it.
  std::jthread opener() {
    return std::jthread([this] {
      reached.wait(false);
      release();
    });
  }
};
struct GateAttributes {
  Gate* gate;
};
struct StepAttributes {
  std::vector<int>* log;
  int step;
};

/// Waits at the gate, then writes 1 into its first operand.
void gate_kernel(const KernelCall& call) {
  call.attributes<GateAttributes>().gate->pass();
  *call.tensor(0).data<float>() = 1;
}
void log_kernel(const KernelCall& call) {
  const auto& a = call.attributes<StepAttributes>();
  a.log->push_back(a.step);
}
void failing_kernel(const KernelCall&) {
  fail<IndexError>("index 7 is out of bounds");
}
HOTARU_KERNEL(kCPU, "test_gate", gate_kernel);
HOTARU_KERNEL(kCPU, "test_log", log_kernel);
HOTARU_KERNEL(kCPU, "test_failing", failing_kernel);
HOTARU_KERNEL(kCPU, "test_refused", failing_kernel, [](const KernelCall& call) {
  fail<NotImplementedError>("no code for ", call.tensor(0).dtype());
});

void enqueue_gate(const Stream& stream, Gate& gate, const Tensor& out) {
  const Operand operands[] = {write(out)};
  stream.enqueue({kernel("test_gate"), operands, GateAttributes{&gate}});
}
void enqueue_failure(const Stream& stream, const Tensor& out) {
  const Operand operands[] = {write(out)};
  stream.enqueue({kernel("test_failing"), operands});
}

class QueueTest : public testing::Test {
 protected:
  QueueTest() { set_num_threads(3); }
  ~QueueTest() override { set_num_threads(saved_); }
  Tensor zeros() { return full(Dims{4}, 0.0, DType::kFloat32); }
  int saved_ = get_num_threads();
};

TEST_F(QueueTest, EnqueueReturnsWhileTheStreamIsBusy) {
  const Stream stream = Stream::queued();
  const Tensor x = zeros();
  Gate gate;
  enqueue_gate(stream, gate, x);
  gate.reached.wait(false);
  EXPECT_FALSE(stream.query());
  gate.release();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
  EXPECT_EQ(x.data<float>()[0], 1.0f);
}

TEST_F(QueueTest, IndependentStreamsOverlap) {
  // Each kernel ends only when the other has begun.
  const Stream a = Stream::queued(), b = Stream::queued();
  const Tensor x = zeros(), y = zeros();
  Gate first, second;
  enqueue_gate(a, first, x);
  enqueue_gate(b, second, y);
  first.reached.wait(false);
  second.reached.wait(false);
  first.release();
  second.release();
  a.synchronize();
  b.synchronize();
}

TEST_F(QueueTest, CallsOfAStreamRunInOrder) {
  const Stream stream = Stream::queued();
  std::vector<int> log, want(2000);
  std::iota(want.begin(), want.end(), 0);
  const Tensor x = zeros();
  for (const int step : want) {
    const Operand operands[] = {read(x)};
    stream.enqueue({kernel("test_log"), operands, StepAttributes{&log, step}});
  }
  stream.synchronize();
  EXPECT_EQ(log, want);
}

TEST_F(QueueTest, AReaderOnAnotherStreamWaitsForTheWriter) {
  const Stream a = Stream::queued(), b = Stream::queued();
  const Tensor x = zeros();
  Gate gate;
  enqueue_gate(a, gate, x);
  Tensor y;
  {
    const StreamGuard guard(b);
    y = add(x, x);
  }
  gate.reached.wait(false);
  EXPECT_FALSE(b.query());
  gate.release();
  b.synchronize();
  EXPECT_EQ(y.data<float>()[0], 2.0f);
}

TEST_F(QueueTest, AWriterWaitsForReadersOnOtherStreams) {
  const Stream a = Stream::queued(), b = Stream::queued();
  const Tensor x = zeros(), out = zeros();
  Gate gate;
  const Operand operands[] = {write(out), read(x)};
  a.enqueue({kernel("test_gate"), operands, GateAttributes{&gate}});
  {
    const StreamGuard guard(b);
    copy_(x, full(Dims{4}, 5.0, DType::kFloat32));
  }
  gate.reached.wait(false);
  EXPECT_FALSE(b.query());
  gate.release();
  b.synchronize();
  EXPECT_EQ(x.data<float>()[3], 5.0f);
}

TEST_F(QueueTest, TheHostWaitsBeforeItReads) {
  const Stream stream = Stream::queued();
  const Tensor x = zeros();
  Gate gate;
  enqueue_gate(stream, gate, x);
  const std::jthread opener = gate.opener();
  EXPECT_EQ(x.data<float>()[0], 1.0f);
}

TEST_F(QueueTest, AnImmediateCallWaitsForQueuedWork) {
  const Stream stream = Stream::queued();
  const Tensor x = zeros();
  Gate gate;
  enqueue_gate(stream, gate, x);
  const std::jthread opener = gate.opener();
  const Tensor y = add(x, x);
  EXPECT_EQ(y.data<float>()[0], 2.0f);
}

TEST_F(QueueTest, AQueueOwnsItsBuffers) {
  const Stream stream = Stream::queued();
  Gate gate;
  Tensor sum_of_all;
  {
    const Tensor x = zeros();
    enqueue_gate(stream, gate, x);
    const StreamGuard guard(stream);
    sum_of_all = sum(add(x, full(Dims{4}, 1.0, DType::kFloat32)));
  }
  gate.release();
  EXPECT_EQ(item(sum_of_all).to_double(), 5.0);
}

TEST_F(QueueTest, ResultsGetTheirMemoryWhenTheirCallRuns) {
  if (!BlockPool::kPooling) GTEST_SKIP() << "no reuse under AddressSanitizer";
  cpu::BlockCache& cache = cpu::BlockCache::instance();
  constexpr int64_t kSize = 1 << 18;
  const Stream stream = Stream::queued();
  Gate gate;
  Tensor x = full(Dims{kSize}, 0.0, DType::kFloat32);
  cache.clear();
  enqueue_gate(stream, gate, zeros());
  {
    const StreamGuard guard(stream);
    for (int i = 0; i < 20; ++i) x = add(x, x);
  }
  gate.release();
  stream.synchronize();
  // Each sum took the block of the one before the last; at once they would
  // have taken 20.
  EXPECT_LE(cache.kept(), 3 * kSize * sizeof(float));
}

TEST_F(QueueTest, NothingIsKeptWhenStreamsAreGone) {
  const int before = detail::watchers;
  const Tensor x = zeros();
  {
    const Stream stream = Stream::queued();
    const StreamGuard guard(stream);
    for (int i = 0; i < 100; ++i) add(x, x);
    Event event;
    stream.record(event);
    stream.synchronize();
    for (int i = 0; i < 10; ++i) add(x, x);
  }
  // The tensor's uses still name the queue; the next use forgets it.
  EXPECT_EQ(x.data<float>()[0], 0.0f);
  EXPECT_LE(detail::watchers, before + 1);
  EXPECT_EQ(x.storage()->use_count(), 1);
}

TEST_F(QueueTest, AStreamMayGoBeforeItsWorkIsDone) {
  Gate gate;
  const Tensor x = zeros();
  enqueue_gate(Stream::queued(), gate, x);
  gate.release();
  EXPECT_EQ(x.data<float>()[0], 1.0f);
}

TEST_F(QueueTest, EventsOrderStreamsThatShareNothing) {
  const Stream a = Stream::queued(), b = Stream::queued();
  const Tensor x = zeros();
  Gate gate;
  std::vector<int> log;
  enqueue_gate(a, gate, x);
  Event event(true);
  a.record(event);
  b.wait(event);
  const Tensor y = zeros();
  const Operand operands[] = {read(y)};
  b.enqueue({kernel("test_log"), operands, StepAttributes{&log, 1}});
  Event end(true);
  b.record(end);
  gate.reached.wait(false);
  EXPECT_FALSE(event.query());
  EXPECT_FALSE(b.query());
  gate.release();
  EXPECT_GE(event.elapsed_time(end), 0.0);  // when both are reached
  EXPECT_EQ(log.size(), 1u);
  EXPECT_THROW((void)Event().elapsed_time(end), Error);
}

TEST_F(QueueTest, AnErrorNamesTheOperatorAndLeavesTheStreamUsable) {
  const Stream stream = Stream::queued();
  const Tensor x = zeros();
  enqueue_failure(stream, x);
  try {
    stream.synchronize();
    FAIL() << "the error was lost";
  } catch (const IndexError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("index 7 is out of bounds"), text.npos);
    EXPECT_NE(text.find("test_failing on [4]"), text.npos) << text;
  }
  stream.synchronize();  // told once
  const StreamGuard guard(stream);
  EXPECT_EQ(item(sum(add(zeros(), zeros()))).to_double(), 0.0);
}

TEST_F(QueueTest, WhatTheKernelRefusesIsNeverQueued) {
  const Stream stream = Stream::queued();
  const Tensor x = zeros();
  const Operand operands[] = {write(x)};
  EXPECT_THROW(stream.enqueue({kernel("test_refused"), operands}),
               NotImplementedError);
  EXPECT_THROW(stream.enqueue({kernel("test_of_no_device"), operands}),
               NotImplementedError);
  EXPECT_TRUE(stream.query());
  stream.synchronize();
  EXPECT_EQ(x.data<float>()[0], 0.0f);
}

TEST_F(QueueTest, AnErrorFollowsTheDataToOtherStreams) {
  const Stream a = Stream::queued(), b = Stream::queued();
  const Tensor x = zeros(), other = zeros();
  Gate gate;
  enqueue_gate(a, gate, other);
  enqueue_failure(a, x);
  Tensor y, fine;
  {
    const StreamGuard guard(b);
    fine = add(zeros(), zeros());
    y = add(x, x);
  }
  gate.release();
  EXPECT_THROW((void)y.data<float>(), IndexError);
  EXPECT_THROW((void)add(y, y), IndexError);
  EXPECT_EQ(fine.data<float>()[0], 0.0f);
  EXPECT_THROW(b.synchronize(), IndexError);
  EXPECT_THROW(a.synchronize(), IndexError);
  // A value of its own makes the tensor whole again.
  copy_(x, full(Dims{4}, 3.0, DType::kFloat32));
  EXPECT_EQ(x.data<float>()[0], 3.0f);
  EXPECT_THROW((void)y.data<float>(), IndexError);
}

TEST_F(QueueTest, AnErrorTravelsThroughEvents) {
  const Stream a = Stream::queued(), b = Stream::queued();
  enqueue_failure(a, zeros());
  Event event;
  a.record(event);
  b.wait(event);
  EXPECT_THROW(b.synchronize(), IndexError);
  EXPECT_THROW(event.synchronize(), IndexError);
  EXPECT_THROW(a.synchronize(), IndexError);
}

TEST_F(QueueTest, AnErrorOutlivesItsStream) {
  enqueue_failure(Stream::queued(), zeros());
  EXPECT_THROW(synchronize_all(), IndexError);
  synchronize_all();
}

TEST_F(QueueTest, TenThousandStreamsNeedNoThreads) {
  std::vector<Stream> streams;
  const Tensor x = zeros();
  for (int i = 0; i < 10'000; ++i) {
    streams.push_back(Stream::queued());
    const StreamGuard guard(streams.back());
    add_(x, full(Dims{4}, 1.0, DType::kFloat32));
  }
  EXPECT_LE(Scheduler::instance().num_workers(), 2);
  EXPECT_EQ(x.data<float>()[0], 10'000.0f);
}

TEST_F(QueueTest, QueuedDrawsComeInProgramOrder) {
  const auto owned = make_ref<CpuGenerator>(3);
  Generator& generator = *owned;
  const auto draw = [&](const Tensor& t) { uniform_(t, 0, 1, &generator); };
  const Tensor a = zeros(), b = zeros(), c = zeros(), d = zeros();
  draw(a);
  draw(b);
  generator.manual_seed(3);
  {
    const StreamGuard guard(Stream::queued());
    draw(c);
  }
  {
    const StreamGuard guard(Stream::queued());
    draw(d);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(c.data<float>()[i], a.data<float>()[i]);
    EXPECT_EQ(d.data<float>()[i], b.data<float>()[i]);
  }
}

TEST_F(QueueTest, BackwardRunsOnTheForwardsStream) {
  const Stream stream = Stream::queued();
  const Tensor x = full(Dims{4}, 2.0, DType::kFloat32);
  autograd::set_requires_grad(x, true);
  Gate gate;
  Tensor loss;
  {
    const StreamGuard guard(stream);
    loss = sum(mul(x, x));
  }
  stream.synchronize();
  enqueue_gate(stream, gate, zeros());
  autograd::backward({loss}, {});
  const Tensor grad = autograd::meta(x)->grad;
  EXPECT_FALSE(stream.query());  // the gradient waits behind the gate
  gate.release();
  EXPECT_EQ(grad.data<float>()[1], 4.0f);
}

TEST_F(QueueTest, AProfilerSeesCallsWithStreamAndThread) {
  const Stream stream = Stream::queued();
  const Tensor x = zeros();
  start_profiling({.shapes = true});
  EXPECT_THROW(start_profiling(), Error);
  add(x, x);
  {
    const StreamGuard guard(stream);
    mul(x, x);
  }
  stream.synchronize();
  const std::vector<CallRecord> records = stop_profiling().calls;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].stream, 0);
  EXPECT_EQ(records[0].thread, gettid());
  EXPECT_EQ(records[1].stream, stream.id());
  EXPECT_GE(records[1].start, records[0].start + records[0].duration);
  EXPECT_TRUE(same(records[1].shapes.at(0), Dims{4}));
  add(x, x);
  EXPECT_THROW(stop_profiling(), Error);
}

#if !defined(__SANITIZE_THREAD__)  // TSan forbids threads after a fork
TEST_F(QueueTest, AForkedChildHearsWhatItLost) {
  const Stream stream = Stream::queued();
  const Tensor x = zeros();
  Gate gate;
  enqueue_gate(stream, gate, x);
  gate.reached.wait(false);
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      stream.synchronize();
    } catch (const Error&) {
      const StreamGuard guard(stream);
      status = item(sum(add(zeros(), zeros()))).to_double() == 0 ? 0 : 2;
    }
    _exit(status);
  }
  gate.release();
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(x.data<float>()[0], 1.0f);
}
#endif

}  // namespace
}  // namespace hotaru
