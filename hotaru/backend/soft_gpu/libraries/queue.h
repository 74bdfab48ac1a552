// Common parts of the stand-ins for NVIDIA's libraries. They are for tests of
// the code that calls those libraries: slow, strict about what they are given,
// and computed in double.
#pragma once

#include <algorithm>
#include <atomic>
#include <complex>
#include <functional>

#include "hotaru/backend/soft_gpu/call.h"
#include "hotaru/core/half.h"

namespace hotaru::soft_gpu {

/// For tests: how many computations the stand-ins were asked for so far.
extern "C" __attribute__((visibility("default"))) long
hotaru_softgpu_library_calls();
inline std::atomic<long> library_calls{0};

/// Puts work that opens the device's memory at a stream's end; it runs when
/// `ready`, if that is given.
inline bool enqueue_on(cuda::CUstream handle, std::function<void()> work,
                       std::function<bool()> ready = {}) {
  Call call(Call::kContext);
  if (call.error != cuda::CUDA_SUCCESS) return false;
  const StreamPtr stream = call.find(handle);
  if (!stream || stream->device != call.device()) return false;
  Operation operation;
  operation.opens = stream->device;
  operation.ready = std::move(ready);
  operation.run = [work = std::move(work)] {
    work();
    return cuda::CUDA_SUCCESS;
  };
  Activity& does = operation.does.emplace();
  does.name = "_ZN6hotaru8soft_gpu7libraryEv";  // hotaru::soft_gpu::library()
  does.grid = does.block = {1, 1, 1};
  call.machine().enqueue(stream, std::move(operation));
  ++library_calls;
  return true;
}

using Number = std::complex<double>;

/// An element as a number and back, rounded once.
template <class T>
Number number_of(T x) {
  if constexpr (requires { x.real(); })
    return Number(x.real(), x.imag());
  else
    return Number(double(x), 0);
}
template <class T>
T element_of(Number x) {
  if constexpr (requires(T t) { t.real(); })
    return T(typename T::value_type(x.real()),
             typename T::value_type(x.imag()));
  else if constexpr (sizeof(T) == 2)
    return T(float(x.real()));
  else
    return T(x.real());
}

/// Workspaces may hold anything, so they are filled with it.
inline void spoil(void* room, size_t bytes) {
  std::fill_n(static_cast<unsigned char*>(room), bytes, 0xA5);
}

}  // namespace hotaru::soft_gpu
