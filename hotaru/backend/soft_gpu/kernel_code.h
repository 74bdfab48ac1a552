// Code of a kernel as a launch has to know it, wherever that comes from.
#pragma once

#include <cstddef>
#include <vector>

#include "hotaru/backend/soft_gpu/registry.h"

namespace hotaru::soft_gpu {

/// `run`, `synchronises` and `waits` are KernelRegistration's; `run` gets all
/// parameters, each at the next multiple of 16 bytes.
struct KernelCode {
  const char* name;
  std::vector<size_t> sizes;  // of parameters, in bytes
  void (*run)(const void* params);
  bool synchronises;
  bool waits = false;

  /// Bytes that a parameter takes with those up to the next one.
  static size_t padded(size_t size) { return (size + 15) / 16 * 16; }
};

/// The code of a kernel in this library, for ever.
inline const KernelCode* code_of(const KernelRegistration& kernel) {
  std::vector<size_t> sizes;
  if (kernel.params_bytes != 0) sizes.push_back(kernel.params_bytes);
  return new KernelCode{kernel.name, std::move(sizes), kernel.run,
                        kernel.synchronises, kernel.waits};
}

}  // namespace hotaru::soft_gpu
