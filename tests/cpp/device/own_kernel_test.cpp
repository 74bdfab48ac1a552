// Kernels from source text, compiled and launched by a C++ program.
#include "hotaru/runtime/own/own_kernel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

constexpr const char* kSaxpy = R"(
__global__ void saxpy(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
)";

template <class T>
KernelArgument value(T number) {
  return {-1, std::string(reinterpret_cast<const char*>(&number), sizeof(T))};
}

class OwnKernels : public testing::Test {
 protected:
  /// The GPU in software takes a stand-in for NVRTC, and for nothing else.
  void SetUp() override {
    if (accelerator().in_software()) {
      setenv("HOTARU_CUDA_LIBRARIES", "soft", 1);
      accelerator().libraries("NVRTC");
      unsetenv("HOTARU_CUDA_LIBRARIES");
      if (std::system("command -v ${CXX:-c++} >/dev/null") != 0)
        GTEST_SKIP() << "no C++ compiler, which the stand-in for NVRTC needs";
    }
    const DeviceLibrary nvrtc = accelerator().libraries("NVRTC").at(0);
    if (!nvrtc.why_not.empty()) GTEST_SKIP() << "no NVRTC: " << nvrtc.why_not;
    setenv("HOTARU_CACHE", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("HOTARU_CACHE");
    std::filesystem::remove_all(folder_);
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("hotaru-own-kernels-" + std::to_string(getpid()));
};

TEST_F(OwnKernels, AreLaunchedOnAStream) {
  const auto kernel = compile_kernel({kSaxpy, "saxpy", "", {}, {}}, 0);
  EXPECT_EQ(kernel->name(), "saxpy");
  const TensorOptions options{DType::kFloat32, Device{DeviceType::kCUDA, 0}};
  const Tensor x = full(Dims{300}, Scalar(2), options);
  const Tensor y = full(Dims{300}, Scalar(1), options);
  const Stream stream = accelerator().make_stream(0, 0);
  OwnLaunch launch;
  launch.kernel = kernel;
  launch.grid[0] = 3;
  launch.block[0] = 128;
  launch.arguments = {{0}, {1}, value(0.5f), value(int32_t(299))};
  const Operand operands[] = {read(x), update(y)};
  for (int round = 0; round < 10; ++round)
    enqueue_launch(launch, operands,
                   round % 2 ? stream : current_stream(x.device()));
  EXPECT_EQ(x.version(), 0u);
  EXPECT_EQ(y.version(), 10u);
  const Tensor host = to(y, Device{});
  for (int64_t i = 0; i < 299; ++i)
    ASSERT_EQ(host_data<float>(host, "test")[i], 11) << "element " << i;
  EXPECT_EQ(host_data<float>(host, "test")[299], 1);
}

TEST_F(OwnKernels, ErrorsHaveTheCompilersLog) {
  const auto before = accelerator().compile_counts();
  for (int again = 0; again < 2; ++again)
    EXPECT_THROW(compile_kernel({kSaxpy, "other", "", {}, {}}, 0), Error);
  try {
    compile_kernel({kSaxpy, "other", "", {}, {}}, 0);
  } catch (const Error& error) {
    EXPECT_TRUE(std::strstr(error.what(), "functions here: saxpy"))
        << error.what();
  }
  EXPECT_THROW(compile_kernel({kSaxpy, "saxpy", "sm_90", {}, {}}, 0),
               ValueError);
  EXPECT_EQ(accelerator().compile_counts().compiled, before.compiled);
}

}  // namespace
}  // namespace hotaru
