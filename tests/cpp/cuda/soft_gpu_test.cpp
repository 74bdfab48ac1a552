// Devices, memory, streams and events of the GPU in software.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "tests/cpp/cuda/example_kernels.h"
#include "tests/cpp/cuda/soft_device.h"

namespace hotaru::soft_gpu {
namespace {

using namespace hotaru::cuda;

TEST_F(SoftGpu, TellsWhatItIs) {
  int count = 0, major = 0, processors = 0;
  char name[64];
  size_t bytes = 0;
  EXPECT_CU(CUDA_SUCCESS, cuDeviceGetCount(&count));
  EXPECT_EQ(kDevices, count);
  EXPECT_CU(CUDA_SUCCESS, cuDeviceGetName(name, sizeof(name), 3));
  EXPECT_STREQ("hotaru soft GPU", name);
  EXPECT_CU(CUDA_SUCCESS, cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT_EQ(kMemory, bytes);
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                       0);
  EXPECT_EQ(9, major);
  EXPECT_EQ(132, processors);
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&count, kDevices));
}

TEST_F(SoftGpu, OrdersAStreamAndNothingElse) {
  // Two streams that add to one cell without waiting for each other end in an
  // order that changes; each alone keeps its own.
  float* cell = floats(1);
  const CUstream a = stream(), b = stream();
  std::set<float> last;
  for (int i = 0; i < 40; ++i) {
    launch("set_to", 1, 1, a, CellParams{cell, 0});
    launch("set_to", 1, 1, a, CellParams{cell, 1});
    launch("set_to", 1, 1, b, CellParams{cell, 2});
    EXPECT_CU(CUDA_SUCCESS, cuCtxSynchronize());
    last.insert(download(cell, 1)[0]);
  }
  EXPECT_EQ((std::set<float>{1, 2}), last);
  free(cell);
}

TEST_F(SoftGpu, LegacyStreamWaitsForBlockingOnes) {
  float* cell = floats(1);
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  for (int i = 0; i < 20; ++i) {
    launch("set_to", 1, 1, blocking, CellParams{cell, 1});
    launch("set_to", 1, 1, nullptr, CellParams{cell, 2});
    launch("add_one", 1, 1, blocking, CellParams{cell, 0});
    EXPECT_EQ(3, download(cell, 1)[0]);  // on the legacy stream
  }
  free(cell);
}

TEST_F(SoftGpu, EventsOrderStreamsAndDevices) {
  float* cell = floats(1);
  const CUstream a = stream();
  const CUevent done = event(), timed = event();
  use(1);
  const CUstream b = stream();
  float* other = floats(1);
  for (int i = 0; i < 20; ++i) {
    use(0);
    EXPECT_CU(CUDA_SUCCESS, cuEventRecord(timed, a));
    launch("set_to", 1, 1, a, CellParams{cell, i});
    EXPECT_CU(CUDA_SUCCESS, cuEventRecord(done, a));
    use(1);
    EXPECT_CU(CUDA_SUCCESS, cuStreamWaitEvent(b, done, 0));
    EXPECT_CU(CUDA_SUCCESS,
              cuMemcpyPeerAsync(address(other), contexts_[1], address(cell),
                                contexts_[0], sizeof(float), b));
    launch("add_one", 1, 1, b, CellParams{other, 0});
    EXPECT_EQ(i + 1, download(other, 1, b)[0]);
  }
  float milliseconds = -1;
  EXPECT_CU(CUDA_SUCCESS, cuEventElapsedTime(&milliseconds, timed, done));
  EXPECT_GE(milliseconds, 0);
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(done, b));
  free(other);
  use(0);
  free(cell);
}

TEST_F(SoftGpu, IsLazySoAMissingWaitShows) {
  float *device = floats(1), *host = pinned(1);
  const CUstream s = stream();
  const CUevent copied = event();
  for (const bool wait : {false, true}) {
    host[0] = 1;
    EXPECT_CU(CUDA_SUCCESS,
              cuMemcpyHtoDAsync_v2(address(device), host, sizeof(float), s));
    EXPECT_CU(CUDA_SUCCESS, cuEventRecord(copied, s));
    if (wait) EXPECT_CU(CUDA_SUCCESS, cuEventSynchronize(copied));
    host[0] = 2;
    EXPECT_EQ(wait ? 1 : 2, download(device, 1, s)[0]);
  }
  // A pageable source is read before the call returns.
  std::vector<float> pageable{3};
  upload(device, pageable, s);
  pageable[0] = 4;
  EXPECT_EQ(3, download(device, 1, s)[0]);
  // So is a kernel's parameter; and asking often enough makes progress.
  launch("set_to", 1, 1, s, CellParams{device, 5});
  EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
  while (cuStreamQuery(s) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
  EXPECT_EQ(5, download(device, 1, s)[0]);
  EXPECT_CU(CUDA_SUCCESS, cuMemFreeHost(host));
  free(device);
}

TEST_F(SoftGpu, ManyOperationsBeginByThemselves) {
  float *device = floats(1), *host = pinned(1);
  const CUstream s = stream();
  std::atomic<int> runs = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_CU(CUDA_SUCCESS, cuStreamAddCallback(
                                s,
                                [](CUstream, CUresult, void* n) {
                                  ++*static_cast<std::atomic<int>*>(n);
                                },
                                &runs, 0));
  }
  while (runs < 30) std::this_thread::yield();
  EXPECT_CU(CUDA_SUCCESS, cuStreamSynchronize(s));
  EXPECT_EQ(100, runs);
  EXPECT_CU(CUDA_SUCCESS, cuMemFreeHost(host));
  free(device);
}

TEST_F(SoftGpu, HostFunctionsRunInOrderAndMayNotCallTheDriver) {
  struct Seen {
    CUresult result = CUDA_SUCCESS;
    float value = 0;
    float* host = nullptr;
  } seen;
  float* device = floats(1);
  seen.host = pinned(1);
  const CUstream s = stream();
  launch("set_to", 1, 1, s, CellParams{device, 7});
  cuMemcpyDtoHAsync_v2(seen.host, address(device), sizeof(float), s);
  const auto look = [](CUstream, CUresult, void* data) {
    auto& seen = *static_cast<Seen*>(data);
    seen.result = cuCtxSynchronize();
    seen.value = *seen.host;
  };
  EXPECT_CU(CUDA_SUCCESS, cuStreamAddCallback(s, look, &seen, 0));
  EXPECT_CU(CUDA_SUCCESS, cuStreamSynchronize(s));
  EXPECT_EQ(7, seen.value);
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, seen.result);
  EXPECT_CU(CUDA_SUCCESS, cuMemFreeHost(seen.host));
  free(device);
}

TEST_F(SoftGpu, ALostDeviceAnswersAllButCallbacksWithItsError) {
  const CUstream s = stream();
  struct Seen {
    std::atomic<int> calls = 0;
    CUresult status = CUDA_SUCCESS;
  } seen;
  const auto see = [](CUstream, CUresult status, void* data) {
    auto& seen = *static_cast<Seen*>(data);
    seen.status = status;
    ++seen.calls;
  };
  float* device = floats(1);
  EXPECT_CU(CUDA_SUCCESS, cuStreamAddCallback(s, see, &seen, 0));
  hotaru_softgpu_fail(0, CUDA_ERROR_UNKNOWN);
  EXPECT_CU(CUDA_ERROR_UNKNOWN, cuStreamSynchronize(s));
  EXPECT_CU(CUDA_ERROR_UNKNOWN, cuStreamAddCallback(s, see, &seen, 0));
  while (seen.calls < 1) std::this_thread::yield();
  hotaru_softgpu_fail(0, CUDA_SUCCESS);
  EXPECT_CU(CUDA_SUCCESS, cuStreamSynchronize(s));
  EXPECT_EQ(1, seen.calls);
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, seen.status);
  free(device);
}

TEST_F(SoftGpu, MemoryEnds) {
  size_t before = 0, after = 0, total = 0;
  EXPECT_CU(CUDA_SUCCESS, cuMemGetInfo_v2(&before, &total));
  CUdeviceptr big = 0, small = 0;
  EXPECT_CU(CUDA_SUCCESS, cuMemAlloc_v2(&big, before - 8192));
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&small, 8193));
  EXPECT_CU(CUDA_SUCCESS, cuMemAlloc_v2(&small, 1));
  EXPECT_CU(CUDA_SUCCESS, cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(4096u, after);
  EXPECT_EQ(0u, small % 256);
  EXPECT_CU(CUDA_SUCCESS, cuMemFree_v2(big));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(big));
  EXPECT_CU(CUDA_SUCCESS, cuMemFree_v2(small));
  EXPECT_CU(CUDA_SUCCESS, cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(before, after);
}

TEST_F(SoftGpu, MapsVirtualMemory) {
  const size_t bytes = kGranularity;
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle handle = 0, second = 0;
  EXPECT_CU(CUDA_SUCCESS, cuMemAddressReserve(&at, 4 * kMemory, 0, 0, 0));
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
            cuMemCreate(&handle, kMemory + bytes, &prop, 0));
  EXPECT_CU(CUDA_SUCCESS, cuMemCreate(&handle, bytes, &prop, 0));
  EXPECT_CU(CUDA_SUCCESS, cuMemCreate(&second, bytes, &prop, 0));
  EXPECT_CU(CUDA_SUCCESS, cuMemMap(at, bytes, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, bytes, 0, second, 0));
  EXPECT_CU(CUDA_SUCCESS, cuMemMap(at + bytes, bytes, 0, second, 0));
  const CUmemAccessDesc access{prop.location,
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CU(CUDA_SUCCESS, cuMemSetAccess(at, 2 * bytes, &access, 1));
  EXPECT_CU(CUDA_SUCCESS, cuMemRelease(handle));
  EXPECT_CU(CUDA_SUCCESS, cuMemRelease(second));
  // Across both, and poison before.
  const auto* cell = reinterpret_cast<const float*>(at + bytes) - 1;
  EXPECT_TRUE(std::isnan(download(cell, 2)[1]));
  EXPECT_CU(CUDA_SUCCESS, cuMemsetD32Async(address(cell), 0x40000000, 2, 0));
  EXPECT_EQ((std::vector<float>{2, 2}), download(cell, 2));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 4 * kMemory));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuMemsetD8Async(at + 2 * bytes - 1, 0, 2, nullptr));
  EXPECT_CU(CUDA_SUCCESS, cuMemUnmap(at, 2 * bytes));
  EXPECT_CU(CUDA_SUCCESS, cuMemAddressFree(at, 4 * kMemory));
  size_t free = 0, total = 0;
  EXPECT_CU(CUDA_SUCCESS, cuMemGetInfo_v2(&free, &total));
  EXPECT_EQ(total, free);
}

TEST_F(SoftGpu, KnowsPointers) {
  use(2);
  float *device = floats(4), *host = pinned(4);
  unsigned type = 0;
  int ordinal = -1;
  EXPECT_CU(CUDA_SUCCESS,
            cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  address(device + 3)));
  EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
  EXPECT_CU(CUDA_SUCCESS,
            cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  address(device)));
  EXPECT_EQ(2, ordinal);
  EXPECT_CU(CUDA_SUCCESS,
            cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  address(host + 3)));
  EXPECT_EQ(CU_MEMORYTYPE_HOST, type);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  address(&type)));
  std::vector<float> own(4);
  EXPECT_CU(CUDA_SUCCESS, cuMemHostRegister_v2(own.data(), 16, 0));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
            cuMemHostRegister_v2(own.data() + 1, 4, 0));
  EXPECT_CU(CUDA_SUCCESS, cuMemHostUnregister(own.data()));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
            cuMemHostUnregister(own.data()));
  EXPECT_CU(CUDA_SUCCESS, cuMemFreeHost(host));
  free(device);
}

TEST_F(SoftGpu, RefusesForeignHandles) {
  float* device = floats(1);
  const CUstream s = stream();
  const CUfunction f = function("add_one");
  const CUevent e = event();
  use(1);
  CellParams params{device, 0};
  void* all[] = {&params};
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
            cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, all, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launch("add_one", 1, 1, s, params));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(e, nullptr));
  use(0);
  EXPECT_CU(CUDA_SUCCESS, cuStreamDestroy_v2(s));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(s));
  EXPECT_CU(CUDA_SUCCESS, cuEventDestroy_v2(e));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(e));
  CUkernel kernel;
  EXPECT_CU(CUDA_ERROR_NOT_FOUND,
            cuLibraryGetKernel(&kernel, library_, "no_such_kernel"));
  free(device);
  EXPECT_CU(CUDA_SUCCESS, cuCtxSetCurrent(nullptr));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  use(0);
}

TEST_F(SoftGpu, ServesManyThreads) {
  constexpr int kThreads = 4, kRounds = 50;
  float* cells = floats(kThreads);
  upload(cells, std::vector<float>(kThreads, 0));
  EXPECT_CU(CUDA_SUCCESS, cuCtxSynchronize());  // or the streams overtake it
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      use(0);
      const CUstream s = stream();
      const CUevent e = event(CU_EVENT_DISABLE_TIMING);
      for (int i = 1; i <= kRounds; ++i) {
        float* own = floats(1);
        launch("add_one", 1, 1, s, CellParams{cells + t, 0});
        EXPECT_CU(CUDA_SUCCESS,
                  cuMemcpyDtoDAsync_v2(address(own), address(cells + t), 4, s));
        EXPECT_CU(CUDA_SUCCESS, cuEventRecord(e, s));
        if (i % 2)
          EXPECT_CU(CUDA_SUCCESS, cuEventSynchronize(e));
        else
          while (cuEventQuery(e) == CUDA_ERROR_NOT_READY)
            std::this_thread::yield();
        EXPECT_EQ(i, download(own, 1, s)[0]);
        free(own);
      }
      EXPECT_CU(CUDA_SUCCESS, cuEventDestroy_v2(e));
      EXPECT_CU(CUDA_SUCCESS, cuStreamDestroy_v2(s));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::vector<float>(kThreads, kRounds), download(cells, kThreads));
  free(cells);
}

TEST_F(SoftGpu, HostsMayNotTouchDeviceMemory) {
  float* device = floats(1);
  upload(device, {1});
  EXPECT_CU(CUDA_SUCCESS, cuCtxSynchronize());
  EXPECT_DEATH(*const_cast<volatile float*>(device) = 2, "");
  EXPECT_EQ(1, download(device, 1)[0]);
  free(device);
}

TEST_F(SoftGpu, ForkedChildHasNoDriver) {
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    const bool none = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                      cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                      cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
    _exit(none ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status));
}

}  // namespace
}  // namespace hotaru::soft_gpu
