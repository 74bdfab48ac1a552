// Graphs of CUDA streams, replayed from several threads.
#include "hotaru/graph/graph.h"

#include <gtest/gtest.h>

#include <thread>

#include "hotaru/backend/cuda/graph/dependent_launch.h"
#include "hotaru/backend/cuda/graph/scratch.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/sort/sort.h"
#include "hotaru/runtime/backend.h"

namespace hotaru {
namespace {

const Device kCuda{DeviceType::kCUDA, 0};

Stream new_stream() {
  return DeviceTable::instance().backend(kCuda.type).make_stream(0, 0);
}

template <class Body>
Ref<graph::Graph> captured(const Body& body, Ref<graph::Pool> pool = nullptr) {
  auto made = make_ref<graph::Graph>();
  const Stream stream = new_stream();
  const StreamGuard guard(stream);
  made->capture_begin(stream, std::move(pool));
  body();
  made->capture_end();
  return made;
}

template <class F>
void in_threads(int n, const F& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}

float host(const Tensor& t) {
  const Tensor here = to(t, Device{});
  return here.data<float>()[0];
}

TEST(CudaGraph, GraphsOfAPoolReplayInThreads) {
  const Tensor x = full(Dims{8}, Scalar(2), {DType::kFloat32, kCuda});
  const Tensor total = zeros(Dims{8}, {DType::kFloat32, kCuda});
  const auto body = [&] { add_(total, sum(mul(std::get<0>(sort(x)), x))); };
  const Ref<graph::Graph> first = captured(body);
  const Ref<graph::Graph> second = captured(body, first->pool());
  in_threads(4, [&](int i) {
    const Stream stream = new_stream();
    const StreamGuard guard(stream);
    for (int n = 0; n < 5; ++n) (i % 2 ? first : second)->replay();
  });
  EXPECT_EQ(host(total), 20.f * 32);
}

TEST(CudaGraph, MovesAndErrorsWhileOthersReplay) {
  const Tensor x = ones(Dims{4}, {DType::kFloat32, kCuda});
  const Tensor at = zeros(Dims{2}, {DType::kInt64, kCuda});
  Tensor y;
  const Ref<graph::Graph> made =
      captured([&] { y = index_select(add(x, Scalar(1)), 0, at); });
  in_threads(3, [&](int i) {
    const Stream stream = new_stream();
    const StreamGuard guard(stream);
    for (int n = 0; n < 4; ++n) {
      if (i == 0) fill_(at, Scalar(n % 2 ? 9 : 0));
      try {
        made->replay();
        stream.synchronize();
      } catch (const IndexError&) {  // of its own replay or another's
      }
    }
  });
  fill_(at, Scalar(0));
  made->replay();
  EXPECT_EQ(host(y), 2);
}

TEST(CudaGraph, FullEdgesComeBack) {
  const Tensor x = ones(Dims{4}, {DType::kFloat32, kCuda});
  Tensor y;
  const Ref<graph::Graph> made =
      captured([&] { y = cumsum(std::get<0>(sort(cumsum(x, 0))), 0); });
  DeviceGraph* const device = made->program().device_graph();
  if (!device) GTEST_SKIP() << "a driver without graphs";
  const auto raw = reinterpret_cast<cuda::CUgraph>(device->raw().at(0).graph);
  const size_t before = cuda::dependent_edges(raw);
  EXPECT_GE(before, 2u);
  EXPECT_EQ(device->dependent_pairs(), before);
  EXPECT_TRUE(cuda::make_full(raw));
  EXPECT_EQ(cuda::dependent_edges(raw), 0u);
  EXPECT_FALSE(cuda::make_full(raw));
  device->instantiate();
  made->replay();
  EXPECT_EQ(to(y, Device{}).data<float>()[3], 10);
}

TEST(CudaGraph, ScratchThatIsFixedStaysTheSame) {
  GraphScratch pool;
  const CallOrder order;
  cuda::Scratch scratch(0, order, pool);
  void* const first = scratch.allocate(1000);
  ASSERT_TRUE(first);
  EXPECT_EQ(scratch.pieces().size(), 1u);
  scratch.fix();
  scratch.clear();
  cuda::Scratch other(0, order, pool);  // a later graph of the pool
  const auto room = size_t(pool.pieces[0].numel());
  EXPECT_TRUE(other.allocate(room + 1));
  ASSERT_EQ(pool.pieces.size(), 2u);
  EXPECT_EQ(scratch.pieces().size(), 1u);
  EXPECT_EQ(scratch.allocate(1000), first);
  EXPECT_FALSE(
      scratch.allocate(room));  // neither the other piece nor a new one
  EXPECT_EQ(pool.pieces.size(), 2u);
  EXPECT_EQ(scratch.pieces().size(), 1u);
}

}  // namespace
}  // namespace hotaru
