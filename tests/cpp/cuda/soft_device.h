// The GPU in software as its tests use it: eight devices with 64 MiB each, and
// an executor that begins only when asked.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hotaru/backend/soft_gpu/call.h"

namespace hotaru::soft_gpu {

inline constexpr int kDevices = 8;
inline constexpr size_t kMemory = 64 << 20;

#define EXPECT_CU(expected, call) EXPECT_EQ(cuda::expected, cuda::call)
#define ASSERT_CU(call) ASSERT_EQ(cuda::CUDA_SUCCESS, cuda::call)

/// Every test has the contexts of all devices, and the first one is current.
/// What a test broke is whole again in the next.
class SoftGpu : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_CU(cuInit(0));
    for (int i = 0; i < kDevices; ++i)
      ASSERT_CU(cuDevicePrimaryCtxRetain(&contexts_[i], i));
    ASSERT_CU(cuLibraryLoadData(&library_, "", nullptr, nullptr, 0, nullptr,
                                nullptr, 0));
    use(0);
  }
  void TearDown() override {
    cuda::cuCtxSynchronize();
    for (int i = 0; i < kDevices; ++i)
      EXPECT_CU(CUDA_SUCCESS, cuDevicePrimaryCtxRelease_v2(i));
    EXPECT_CU(CUDA_SUCCESS, cuLibraryUnload(library_));
  }

  void use(int device) { ASSERT_CU(cuCtxSetCurrent(contexts_[device])); }

  /// On the current device.
  cuda::CUstream stream(unsigned flags = cuda::CU_STREAM_NON_BLOCKING) {
    cuda::CUstream made = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuStreamCreateWithPriority(&made, flags, 0));
    return made;
  }
  cuda::CUevent event(unsigned flags = 0) {
    cuda::CUevent made = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuEventCreate(&made, flags));
    return made;
  }
  cuda::CUfunction function(const char* name) {
    cuda::CUkernel kernel = nullptr;
    cuda::CUfunction made = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuLibraryGetKernel(&kernel, library_, name));
    EXPECT_CU(CUDA_SUCCESS, cuKernelGetFunction(&made, kernel));
    return made;
  }
  float* floats(size_t n) {
    cuda::CUdeviceptr made = 0;
    EXPECT_CU(CUDA_SUCCESS, cuMemAlloc_v2(&made, n * sizeof(float)));
    return reinterpret_cast<float*>(made);
  }
  float* pinned(size_t n) {
    void* made = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cuMemHostAlloc(&made, n * sizeof(float), 0));
    return static_cast<float*>(made);
  }
  void free(float* device) {
    EXPECT_CU(CUDA_SUCCESS, cuMemFree_v2(address(device)));
  }
  static cuda::CUdeviceptr address(const void* pointer) {
    return reinterpret_cast<cuda::CUdeviceptr>(pointer);
  }

  template <class Params>
  cuda::CUresult launch(const char* name, unsigned grid, unsigned block,
                        cuda::CUstream stream, Params params,
                        unsigned shared = 0) {
    void* all[] = {&params};
    return cuda::cuLaunchKernel(function(name), grid, 1, 1, block, 1, 1, shared,
                                stream, all, nullptr);
  }

  void upload(float* to, const std::vector<float>& from,
              cuda::CUstream stream = nullptr) {
    EXPECT_CU(CUDA_SUCCESS,
              cuMemcpyHtoDAsync_v2(address(to), from.data(),
                                   from.size() * sizeof(float), stream));
  }
  std::vector<float> download(const float* from, size_t n,
                              cuda::CUstream stream = nullptr) {
    std::vector<float> to(n);
    EXPECT_CU(CUDA_SUCCESS, cuMemcpyDtoHAsync_v2(to.data(), address(from),
                                                 n * sizeof(float), stream));
    return to;
  }

  cuda::CUcontext contexts_[kDevices];
  cuda::CUlibrary library_ = nullptr;
};

}  // namespace hotaru::soft_gpu
