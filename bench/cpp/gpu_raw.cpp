// Costs and rates of the CUDA driver itself on this machine, as the measure for
// hotaru's figures: a JSON object on standard output.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "hotaru/backend/cuda/allocator.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/create.h"

namespace {

using namespace hotaru::cuda;  // NOLINT: a program of one file
using Clock = std::chrono::steady_clock;

double median_of(int rounds, const std::function<double()>& measure) {
  std::vector<double> found;
  for (int i = 0; i < rounds; ++i) found.push_back(measure());
  std::nth_element(found.begin(), found.begin() + rounds / 2, found.end());
  return found[size_t(rounds / 2)];
}

double nanoseconds_each(int calls, const std::function<void()>& call) {
  return median_of(15, [&] {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double, std::nano> all = Clock::now() - begin;
    HOTARU_CUDA(cuCtxSynchronize);
    return all.count() / calls;
  });
}

/// Milliseconds on the device.
double device_ms(const std::function<void()>& call) {
  CUevent begin = nullptr, end = nullptr;
  HOTARU_CUDA(cuEventCreate, &begin, CU_EVENT_DEFAULT);
  HOTARU_CUDA(cuEventCreate, &end, CU_EVENT_DEFAULT);
  call();
  const double ms = median_of(20, [&] {
    HOTARU_CUDA(cuEventRecord, begin, kLegacyStream);
    call();
    HOTARU_CUDA(cuEventRecord, end, kLegacyStream);
    HOTARU_CUDA(cuEventSynchronize, end);
    float found = 0;
    HOTARU_CUDA(cuEventElapsedTime, &found, begin, end);
    return double(found);
  });
  HOTARU_CUDA(cuEventDestroy, begin);
  HOTARU_CUDA(cuEventDestroy, end);
  return ms;
}

}  // namespace

int main() {
  use(0);
  const size_t size = size_t{1} << (is_soft() ? 16 : 28);
  const int calls = is_soft() ? 50 : 2000;
  CUdeviceptr a = 0, b = 0;
  HOTARU_CUDA(cuMemAlloc, &a, size);
  HOTARU_CUDA(cuMemAlloc, &b, size);
  void* host = nullptr;
  HOTARU_CUDA(cuMemHostAlloc, &host, size, CU_MEMHOSTALLOC_PORTABLE);

  const Function fill("Fill_4");
  const CUfunction f = fill.on(0);
  FillParams params;
  params.out = reinterpret_cast<void*>(a);
  params.numel = 4;
  void* arguments[] = {&params};
  const double launch = nanoseconds_each(calls, [&] {
    HOTARU_CUDA(cuLaunchKernel, f, 1, 1, 1, kBlock, 1, 1, 0, kLegacyStream,
                arguments, nullptr);
  });
  const double round_trip = nanoseconds_each(calls, [&] {
    void* data = allocator(0).allocate(16);
    allocator(0).deallocate(data, 16, nullptr);
  });
  const double copy = device_ms(
      [&] { HOTARU_CUDA(cuMemcpyDtoDAsync, b, a, size, kLegacyStream); });
  const double up = device_ms(
      [&] { HOTARU_CUDA(cuMemcpyHtoDAsync, a, host, size, kLegacyStream); });
  const double down = device_ms(
      [&] { HOTARU_CUDA(cuMemcpyDtoHAsync, host, a, size, kLegacyStream); });
  std::printf(
      "{\"launch ns\": %.1f, \"allocator round trip ns\": %.1f, "
      "\"copy TB/s\": %.3f, \"to device GB/s\": %.2f, "
      "\"to host GB/s\": %.2f}\n",
      launch, round_trip, 2 * double(size) / copy / 1e9,
      double(size) / up / 1e6, double(size) / down / 1e6);
}
