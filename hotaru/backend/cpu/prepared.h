// Kernels whose calls are objects: made with what operands' geometry decides,
// then run, once or again and again.
#pragma once

#include <memory>
#include <string_view>

#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {

/// A PreparedCall of class P, which is made with the call.
template <class P>
std::unique_ptr<PreparedCall> prepare_as(const KernelCall& call) {
  return std::make_unique<P>(call);
}

/// At namespace scope: implements a kernel by what `prepare` gives.
template <PrepareFunction prepare>
struct PreparedKernel {
  explicit PreparedKernel(std::string_view name) {
    Kernel& k = kernel(name);
    k.set(DeviceType::kCPU,
          [](const KernelCall& call) { prepare(call)->run(); });
    k.set_prepare(DeviceType::kCPU, prepare);
  }
};

}  // namespace hotaru::cpu
