// Work that a program launches itself: in order with operators, in graphs.
#include "hotaru/runtime/own/launch_function.h"

#include <gtest/gtest.h>

#include "hotaru/backend/cuda/devices.h"
#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/graph/graph.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/operators.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

constexpr int64_t kElements = 1000;
constexpr Device kDevice{DeviceType::kCUDA, 0};

Tensor full_of(float value) {
  return full(Dims{kElements}, Scalar(value), {DType::kFloat32, kDevice});
}

void expect_all(const Tensor& t, float value) {
  const Tensor host = to(t, Device{});
  for (int64_t i = 0; i < kElements; ++i)
    ASSERT_EQ(host_data<float>(host, "test")[i], value) << "element " << i;
}

/// out = in, by a copy of the driver's that hotaru has no part in.
void copy_by_driver(const Tensor& in, const Tensor& out) {
  cuda::launch(
      "my_copy", {read(in), write(out)}, [](const cuda::LaunchSite& at) {
        HOTARU_CUDA(
            cuMemcpyDtoDAsync, reinterpret_cast<uintptr_t>(at.data<float>(1)),
            reinterpret_cast<uintptr_t>(at.data<float>(0)),
            kElements * sizeof(float), static_cast<cuda::CUstream>(at.stream));
      });
}

TEST(LaunchFunction, IsInOrderWithOperators) {
  const Stream first = accelerator().make_stream(0, 0);
  const Stream second = accelerator().make_stream(0, 0);
  Tensor x = full_of(0);
  for (int round = 0; round < 60; ++round) {
    const StreamGuard guard(round % 2 ? first : second);
    const Tensor doubled = mul(x, 1);
    x = empty(Dims{kElements}, {DType::kFloat32, kDevice});
    copy_by_driver(add(doubled, 1), x);
  }
  expect_all(x, 60);
}

TEST(LaunchFunction, GivesANewVersionToWhatItWrites) {
  const Tensor x = full_of(1), y = full_of(2);
  const auto before = std::pair(x.version(), y.version());
  copy_by_driver(x, y);
  EXPECT_EQ(x.version(), before.first);
  EXPECT_EQ(y.version(), before.second + 1);
}

TEST(LaunchFunction, IsPartOfAGraphAndFollowsMoves) {
  const Tensor x = full_of(1), y = full_of(0);
  auto graph = make_ref<graph::Graph>();
  const Stream stream = accelerator().make_stream(0, 0);
  int launched = 0;
  graph->capture_begin(stream);
  {
    const StreamGuard guard(stream);
    const Tensor middle = mul(x, 2);
    const Tensor copied = empty(Dims{kElements}, {DType::kFloat32, kDevice});
    copy_by_driver(middle, copied);
    cuda::launch("counted", {update(copied)},
                 [&](const cuda::LaunchSite&) { ++launched; });
    add_(y, copied);
    EXPECT_EQ(launched, 0);  // nothing runs during a capture
  }
  graph->capture_end();
  graph->replay();
  const int when_made = launched;
  fill_(x, 5);
  graph->replay();
  expect_all(y, 12);
  EXPECT_EQ(launched, when_made);  // replays are the device's alone
  x.storage()->resize(size_t{4} << 20);
  fill_(x, 1);
  graph->replay();
  expect_all(y, 14);
}

TEST(LaunchFunction, MayLaunchOtherThingsWhenTensorsMoved) {
  const Tensor x = full_of(1);
  auto graph = make_ref<graph::Graph>();
  const Stream stream = accelerator().make_stream(0, 0);
  bool clears = false;
  graph->capture_begin(stream);
  {
    const StreamGuard guard(stream);
    cuda::launch("perhaps", {update(x)}, [&](const cuda::LaunchSite& at) {
      if (clears)
        HOTARU_CUDA(cuMemsetD32Async,
                    reinterpret_cast<uintptr_t>(at.data<float>(0)), 0,
                    kElements, static_cast<cuda::CUstream>(at.stream));
    });
    add_(x, full(Dims{}, Scalar(1), {DType::kFloat32, kDevice}));
  }
  graph->capture_end();
  graph->replay();
  expect_all(x, 2);
  clears = true;
  x.storage()->resize(size_t{4} << 20);
  for (int round = 0; round < 2; ++round) {
    fill_(x, 7);
    graph->replay();
    expect_all(x, 1);
  }
}

TEST(LaunchFunction, ErrorsAreTheCallers) {
  const Tensor x = full_of(1);
  try {
    cuda::launch("mine", {update(x)}, [](const cuda::LaunchSite&) {
      throw std::runtime_error("went wrong");
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("went wrong"), std::string::npos);
  }
  const Tensor host = full(Dims{4}, Scalar(1), {DType::kFloat32, Device{}});
  EXPECT_THROW(
      cuda::launch("mine", {update(host)}, [](const cuda::LaunchSite&) {}),
      Error);
  EXPECT_THROW(cuda::launch("mine", {update(x), read(host)},
                            [](const cuda::LaunchSite&) {}),
               Error);
  expect_all(x, 1);
}

}  // namespace
}  // namespace hotaru
