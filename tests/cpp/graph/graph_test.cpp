// Captured graphs: what is recorded, what replays compute, what is refused.
#include "hotaru/graph/graph.h"

#include <gtest/gtest.h>

#include <thread>

#include "hotaru/core/error.h"
#include "hotaru/graph/passes/passes.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/streams/event.h"
#include "tests/cpp/captured_graph.h"

namespace hotaru::graph {
namespace {

Tensor filled(double value) {
  return full(Dims{4}, value, DType::kFloat32);
}
float first(const Tensor& t) {
  return t.data<float>()[0];
}

TEST(Graph, ReplaysWithTheValuesThatInputsHaveThen) {
  const Tensor x = filled(1);
  Tensor y;
  const Ref<Graph> graph = captured_graph([&] { y = add(mul(x, x), x); });
  graph->replay();
  EXPECT_EQ(first(y), 2);
  fill_(x, 3);
  graph->replay();
  EXPECT_EQ(first(y), 12);
}

TEST(Graph, NothingRunsWhileItIsCaptured) {
  const Tensor x = filled(1);
  const Ref<Graph> graph = captured_graph([&] { add_(x, x); });
  EXPECT_EQ(first(x), 1);
  graph->replay();
  graph->replay();
  EXPECT_EQ(first(x), 4);
}

TEST(Graph, IntermediateValuesShareMemory) {
  const Tensor x = full(Dims{1000}, 1.0, DType::kFloat32);
  Tensor y;
  const Ref<Graph> graph = captured_graph(
      [&] {
        y = x;
        for (int i = 0; i < 10; ++i) y = add(y, x);
      },
      {{"fuse_pointwise"}, false});
  const MemoryPlan& plan = graph->program().plan();
  EXPECT_EQ(plan.placements.size(), 9u);  // all but the result
  EXPECT_EQ(plan.nbytes, plan.peak);
  EXPECT_EQ(plan.nbytes, 2 * 4032u);
  graph->replay();
  EXPECT_EQ(first(y), 11);
}

/// Tells whether a tensor's memory is part of the plan.
bool lies_among(const MemoryPlan& plan, const Tensor& t) {
  return std::any_of(
      plan.placements.begin(), plan.placements.end(),
      [&](const Placement& p) { return p.storage == t.storage().get(); });
}

TEST(Graph, RenewedResultsLieWhereValuesLay) {
  const Tensor x = full(Dims{1000}, 2.0, DType::kFloat32);
  const Stream stream = Stream::queued();
  Tensor early, late, read, old = clone(x);
  auto graph = make_ref<Graph>(Options{{"fuse_pointwise"}, true});
  graph->capture_begin(stream);
  {
    const StreamGuard guard(stream);
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = add(y, y);
    early = add(y, x);  // while y still lives
    late = add(mul(y, y), x);
    read = add(old, x);
    add_(old, late);
  }
  const Tensor renewed[] = {early, late, old};
  graph->capture_end({}, renewed);
  const MemoryPlan& plan = graph->program().plan();
  EXPECT_TRUE(plan.renewed);
  EXPECT_TRUE(lies_among(plan, early));
  EXPECT_TRUE(lies_among(plan, late));
  EXPECT_FALSE(lies_among(plan, old));   // has memory, and is read
  EXPECT_FALSE(lies_among(plan, read));  // nobody said so
  // Two values at a time besides them.
  EXPECT_LE(plan.nbytes, 4 * 4032u);
  for (int i = 1; i <= 3; ++i) {
    graph->replay();
    EXPECT_EQ(first(early), 34);
    EXPECT_EQ(first(late), 1026);
    EXPECT_EQ(first(old), 2 + i * 1026);
    EXPECT_EQ(first(read), 4 + (i - 1) * 1026);
  }
}

TEST(Graph, RenewedResultsOfOneCallOnlyAreWrittenEachTime) {
  // Results alike each time may be computed once, and have to stay then.
  const Stream stream = Stream::queued();
  const Tensor x = full(Dims{1000}, 2.0, DType::kFloat32);
  Tensor constant, y;
  auto graph = make_ref<Graph>();
  graph->capture_begin(stream);
  {
    const StreamGuard guard(stream);
    constant = full(Dims{1000}, 3.0, DType::kFloat32);
    y = add(mul(tanh(x), x), constant);
  }
  const Tensor renewed[] = {constant, y};
  graph->capture_end({}, renewed);
  for (int i = 0; i < 2; ++i) {
    graph->replay();
    EXPECT_EQ(first(constant), 3);
    EXPECT_FLOAT_EQ(float(first(y)), std::tanh(2.0f) * 2 + 3);
  }
}

TEST(Graph, WhatNobodyReadsIsLeftOut) {
  const Tensor x = filled(1);
  Tensor y;
  const auto body = [&] {
    mul(add(x, x), x);
    y = add(x, x);
  };
  const auto nodes = [&](std::vector<std::string> without) {
    without.push_back("fuse_pointwise");
    return captured_graph(body, {without, false})->program().nodes().size();
  };
  EXPECT_EQ(nodes({}), 1u);
  EXPECT_EQ(nodes({"dead"}), 3u);
}

TEST(Graph, ConstantsMadeByTheHostStay) {
  Tensor y;
  const Tensor x = filled(2);
  const Ref<Graph> graph = captured_graph([&] {
    const Tensor constant = allocate(Dims{4}, DType::kFloat32, Device{});
    for (int i = 0; i < 4; ++i) constant.data<float>()[i] = 5;
    y = mul(x, constant);
  });
  graph->replay();
  EXPECT_EQ(first(y), 10);
}

/// A program of y = x + w * w, whose product is run once, and its operands.
struct KeptProduct {
  KeptProduct() {
    const Stream stream = Stream::queued();
    Capture capture(stream);
    {
      const StreamGuard guard(stream);
      kept = mul(w, w);
      y = add(x, kept);
    }
    Region region;
    EXPECT_TRUE(region.lasts(w));
    region.nodes = capture.end();
    region.once.push_back(std::move(region.nodes.front()));
    region.nodes.erase(region.nodes.begin());
    program.emplace(std::move(region), make_ref<Pool>());
  }
  float replayed() {
    program->run();
    return first(y);
  }

  const Tensor w = filled(2), x = filled(1);
  Tensor kept, y;
  std::optional<Program> program;
};

TEST(Graph, WhatIsMadeOfWeightsRunsAgainOnlyWhenTheyChange) {
  KeptProduct p;
  EXPECT_EQ(p.program->operands().size(), 3u);  // y, x, w
  EXPECT_EQ(p.program->kept_bytes(), 16u);
  EXPECT_EQ(p.replayed(), 5);
  // Not seen, since nothing says that w changed: the product was kept.
  static_cast<float*>(p.w.address())[0] = 9;
  fill_(p.x, 2);
  EXPECT_EQ(p.replayed(), 6);
  fill_(p.w, 3);  // a kernel
  EXPECT_EQ(p.replayed(), 11);
  fill_(make_alias(p.w), 4);  // that counts no version
  EXPECT_EQ(p.replayed(), 18);
  p.w.data<float>()[0] = 5;  // host code
  EXPECT_EQ(p.replayed(), 27);
  const Stream stream = Stream::queued();
  {
    const StreamGuard guard(stream);
    fill_(p.w, 6);  // a queue
  }
  stream.synchronize();
  EXPECT_EQ(p.replayed(), 38);
}

TEST(Graph, WhatIsMadeOfExposedWeightsRunsEachTime) {
  KeptProduct p;
  EXPECT_EQ(p.replayed(), 5);
  p.w.storage()->expose();
  EXPECT_EQ(p.replayed(), 5);
  static_cast<float*>(p.w.address())[0] = 3;
  EXPECT_EQ(p.replayed(), 10);
  static_cast<float*>(p.w.address())[0] = 4;
  EXPECT_EQ(p.replayed(), 17);
  EXPECT_FALSE(Region{}.lasts(p.w));
}

TEST(Graph, EveryReplayDrawsNewNumbersAsEagerWould) {
  Generator& generator = default_generator();
  generator.manual_seed(7);
  const Tensor a = rand(Dims{8}), b = rand(Dims{8});
  generator.manual_seed(7);
  Tensor y;
  const Ref<Graph> graph = captured_graph([&] { y = rand(Dims{8}); });
  for (const Tensor& want : {a, b}) {
    graph->replay();
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(y.data<float>()[i], want.data<float>()[i]);
  }
}

TEST(Graph, HostReadsAreRefusedAndLeaveEverythingUsable) {
  const Tensor x = filled(1);
  const Stream stream = Stream::queued();
  const auto graph = make_ref<Graph>();
  for (const bool computed : {true, false}) {
    graph->capture_begin(stream);
    Tensor y;
    {
      const StreamGuard guard(stream);
      y = computed ? add(x, x) : x;
      EXPECT_THROW(first(y), Error);
    }
    graph->abandon();
    EXPECT_EQ(first(x), 1);
    if (computed) EXPECT_THROW(first(y), Error);
    const StreamGuard guard(stream);
    EXPECT_EQ(first(add(x, x)), 2);
  }
}

TEST(Graph, OtherThreadsMayNotUseWhatIsCapturedButMayWork) {
  const Tensor x = filled(1);
  Tensor y;
  const Ref<Graph> graph = captured_graph([&] {
    y = add(x, x);
    std::jthread([&] {
      EXPECT_EQ(first(add(x, x)), 2);
      EXPECT_THROW(add(y, x), Error);
      const StreamGuard guard(Stream::queued());
      EXPECT_THROW(add(y, x), Error);
    });
  });
  graph->replay();
  EXPECT_EQ(first(y), 2);
}

TEST(Graph, SynchronisationAndNestedCaptureAreRefused) {
  const Stream stream = Stream::queued(), other = Stream::queued();
  const auto graph = make_ref<Graph>(), nested = make_ref<Graph>();
  EXPECT_THROW(graph->capture_begin(Stream(Device{DeviceType::kCPU})), Error);
  graph->capture_begin(stream);
  {
    const StreamGuard guard(stream);
    EXPECT_THROW(stream.synchronize(), Error);
    EXPECT_THROW(stream.query(), Error);
    EXPECT_THROW(nested->capture_begin(other), Error);
    EXPECT_THROW(nested->capture_begin(stream), Error);
    Event elsewhere;
    other.record(elsewhere);
    EXPECT_THROW(stream.wait(elsewhere), Error);
    Event here;
    stream.record(here);
    EXPECT_THROW(here.query(), Error);
    EXPECT_THROW(here.synchronize(), Error);
  }
  graph->abandon();
  stream.synchronize();
}

TEST(Graph, StreamsThatWaitForACapturedOneAreCapturedWithIt) {
  const Stream other = Stream::queued();
  const Tensor x = filled(1);
  Tensor y, z;
  const auto fork = [&](bool join) {
    return captured_graph([&] {
      const Stream& stream = current_stream(Device{});
      y = add(x, x);
      other.wait(stream);
      {
        const StreamGuard guard(other);
        z = add(y, x);
      }
      if (join) stream.wait(other);
      y = add(y, y);
    });
  };
  EXPECT_THROW(fork(false), Error);
  EXPECT_TRUE(other.query());
  const Ref<Graph> graph = fork(true);
  graph->replay();
  EXPECT_EQ(first(z), 3);
  EXPECT_EQ(first(y), 4);
  EXPECT_TRUE(other.query());
}

TEST(Graph, StatesThatPyTorchRefuses) {
  const auto graph = make_ref<Graph>();
  EXPECT_THROW(graph->capture_end(), Error);
  EXPECT_THROW(graph->replay(), Error);
  EXPECT_THROW(graph->pool(), Error);
  const Ref<Graph> done = captured_graph([] {});
  done->replay();
  EXPECT_THROW(done->capture_begin(Stream::queued()), Error);
  done->reset();
  done->capture_begin(Stream::queued());
}

TEST(Graph, AQueuedReplayIsWaitedFor) {
  const Tensor x = filled(1);
  Tensor y;
  const Ref<Graph> graph = captured_graph([&] { y = add(x, x); });
  {
    const StreamGuard guard(Stream::queued());
    graph->replay();
    add_(x, y);
    graph->replay();
  }
  EXPECT_EQ(first(y), 6);
}

TEST(Graph, ThreadsMayShareOneOrReplayTheirOwn) {
  const Tensor x = filled(1), total = filled(0);
  const Ref<Graph> shared = captured_graph([&] { add_(total, x); });
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      Tensor y;
      const Ref<Graph> own = captured_graph([&] { y = add(add(x, x), x); });
      for (int i = 0; i < 200; ++i) {
        shared->replay();
        own->replay();
        EXPECT_EQ(first(y), 3);
      }
    });
  threads.clear();
  EXPECT_EQ(first(total), 1600);
}

TEST(Graph, ATimedReplayComputesAndTellsWhenEachNodeRan) {
  const Tensor x = filled(1);
  Tensor y;
  const Ref<Graph> graph = captured_graph([&] { y = sum(add(x, x)); });
  const std::vector<NodeTime> times = graph->timed_replay();
  EXPECT_EQ(first(y), 8);
  ASSERT_EQ(times.size(), graph->program().nodes().size());
  for (size_t i = 0; i + 1 < times.size(); ++i)
    EXPECT_LE(times[i].start + times[i].duration, times[i + 1].start);
  EXPECT_THROW(make_ref<Graph>()->timed_replay(), Error);
}

TEST(Graph, AnErrorInAReplayNamesTheCall) {
  const Tensor x = full(Dims{4}, 1.0, DType::kInt64);
  const Tensor zero = full(Dims{4}, 0.0, DType::kInt64);
  Tensor y;
  const Ref<Graph> graph = captured_graph([&] { y = remainder(x, zero); });
  try {
    graph->replay();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("graph's call"), std::string::npos)
        << e.what();
  }
  fill_(zero, 1);
  graph->replay();
}

}  // namespace
}  // namespace hotaru::graph
