// Streams, events and guards of at::cuda.
#include <ATen/cuda/CUDAContext.h>
#include <gtest/gtest.h>

#include "torch/nn/parallel/data_parallel.h"
#include "torch/torch.h"

namespace {

using c10::cuda::CUDAStream;

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU here";
  }
};

TEST_F(Cuda, StreamsAreOrderedByEvents) {
  const CUDAStream side = at::cuda::getStreamFromPool();
  EXPECT_NE(side, at::cuda::getDefaultCUDAStream());
  EXPECT_NE(side.stream(), nullptr);
  const auto options = torch::device(torch::kCUDA);
  const torch::Tensor x = torch::ones({1000}, options);
  at::cuda::CUDAEvent made;
  EXPECT_TRUE(made.query());
  made.record();
  torch::Tensor y;
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    EXPECT_EQ(at::cuda::getCurrentCUDAStream(), side);
    made.block(side);
    y = x * 3;
  }
  EXPECT_EQ(at::cuda::getCurrentCUDAStream(), at::cuda::getDefaultCUDAStream());
  side.synchronize();
  EXPECT_TRUE(side.query());
  EXPECT_EQ(y.sum().item<float>(), 3000);
}

TEST_F(Cuda, EventsKeepTime) {
  at::cuda::CUDAEvent begin(at::cuda::kEventDefault),
      end(at::cuda::kEventDefault);
  begin.record();
  torch::ones({100}, torch::kCUDA).add_(1);
  end.record();
  end.synchronize();
  EXPECT_GE(begin.elapsed_time(end), 0);
  at::cuda::CUDAEvent without;
  without.record();
  EXPECT_THROW(begin.elapsed_time(without), c10::Error);
}

TEST_F(Cuda, GuardsPutTheDeviceBack) {
  const auto before = c10::cuda::current_device();
  const auto last = c10::DeviceIndex(c10::cuda::device_count() - 1);
  {
    const c10::cuda::CUDAGuard guard(last);
    EXPECT_EQ(c10::cuda::current_device(), last);
    EXPECT_EQ(torch::ones({1}, torch::kCUDA).device().index(), last);
  }
  EXPECT_EQ(c10::cuda::current_device(), before);
  const torch::Tensor x = torch::ones({1}, torch::Device(torch::kCUDA, last));
  {
    const c10::cuda::OptionalCUDAGuard guard(at::device_of(x));
    EXPECT_EQ(c10::cuda::current_device(), last);
  }
  EXPECT_EQ(c10::cuda::current_device(), before);
  EXPECT_THROW(c10::cuda::CUDAGuard(c10::DeviceIndex(99)), c10::Error);
  EXPECT_EQ(c10::cuda::current_device(), before);
}

TEST_F(Cuda, StreamsOfOthers) {
  const CUDAStream side = at::cuda::getStreamFromPool(true);
  const CUDAStream same =
      at::cuda::getStreamFromExternal(side.stream(), side.device_index());
  const c10::cuda::CUDAStreamGuard guard(same);
  EXPECT_EQ(torch::full({3}, 2, torch::kCUDA).sum().item<int>(), 6);
}

/// Parts on every device there is, gradients at the module's own parameters.
TEST_F(Cuda, DataParallel) {
  torch::nn::Linear layer(3, 2);
  layer->to(torch::kCUDA);
  const torch::Tensor x = torch::randn({5, 3}, torch::kCUDA);
  const torch::Tensor plain = layer->forward(x);
  plain.sum().backward();
  const torch::Tensor expected = layer->weight.grad().clone();
  layer->zero_grad();
  // One device twice where there is but one: replicas all the same.
  const torch::Device last(torch::kCUDA,
                           c10::DeviceIndex(torch::cuda::device_count() - 1));
  const std::vector<torch::Device> devices{{torch::kCUDA, 0}, last};
  const torch::Tensor y = torch::nn::parallel::data_parallel(layer, x, devices);
  EXPECT_TRUE(y.allclose(plain, 1e-5, 1e-6));
  y.sum().backward();
  EXPECT_TRUE(layer->weight.grad().allclose(expected, 1e-5, 1e-6));
}

TEST(Guards, TheCpuNeedsNone) {
  const at::DeviceGuard guard(torch::kCPU);
  EXPECT_TRUE(guard.current_device().is_cpu());
  at::OptionalDeviceGuard none{at::device_of(torch::Tensor())};
  EXPECT_FALSE(none.current_device());
  EXPECT_THROW(c10::cuda::CUDAGuard(torch::Device("cpu")), c10::Error);
}

}  // namespace
