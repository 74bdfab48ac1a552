// The way for C++ programs to put work of their own on CUDA's streams: kernels
// of another compiler, calls of a library. Order across streams, captured
// graphs, profiles and errors hold as for hotaru's operators.
//
//   hotaru::cuda::launch("saxpy", {read(x), update(y)},
//                        [n](const hotaru::cuda::LaunchSite& at) {
//     saxpy<<<n / 256, 256, 0, static_cast<cudaStream_t>(at.stream)>>>(
//         at.data<const float>(0), at.data<float>(1));
//   });
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cuda {

/// Where a launch function's work goes.
struct LaunchSite {
  /// A CUstream (cudaStream_t is the same): all work belongs on it. While a
  /// graph is made it captures, and whatever would wait for it fails.
  void* stream;
  int device;
  std::span<const Operand> operands;

  /// Where the i-th operand's first element lies for this launch. In a graph
  /// it may lie elsewhere than when the function was given away.
  template <class T>
  T* data(size_t i) const {
    return static_cast<T*>(operands[i].tensor->address());
  }
};

/// Called once where the work is launched; for a graph when it is made and
/// whenever operands moved, not in its replays. What it holds lives as long as
/// a graph that has it. It may not call operators.
using LaunchFunction = std::function<void(const LaunchSite&)>;

/// Calls the function on the current stream of the first operand's device,
/// with that device's context current. Operands are all that it reads and
/// writes: write() is for tensors that are written as a whole, update() for
/// others. Throws what the function throws, and Error for operands elsewhere.
void launch(std::string_view name, std::span<const Operand> operands,
            LaunchFunction function);
inline void launch(std::string_view name,
                   std::initializer_list<Operand> operands,
                   LaunchFunction function) {
  launch(name, std::span(operands.begin(), operands.size()),
         std::move(function));
}

}  // namespace hotaru::cuda
