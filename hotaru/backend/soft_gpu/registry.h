// The kernels compiled into this library, by name.
#pragma once

#include <cstddef>

namespace hotaru::soft_gpu {

/// One static object of this kind beside each kernel makes it known to
/// cuLibraryGetKernel. `run` is called once for each thread of the grid, with
/// the bytes of the kernel's only parameter, as copied when it was launched.
/// `synchronises` says whether threads wait for each other (barriers, shuffles,
/// votes); a kernel that said no and does is an error of its launch. `waits`:
/// each thread calls wait_for_grids() before it runs.
struct KernelRegistration {
  KernelRegistration(const char* name, size_t params_bytes,
                     void (*run)(const void* params), bool synchronises,
                     bool waits = false);

  const char* name;
  size_t params_bytes;
  void (*run)(const void* params);
  bool synchronises, waits;
  const KernelRegistration* next;
};

/// Null if no kernel has this name.
const KernelRegistration* find_kernel(const char* name);

}  // namespace hotaru::soft_gpu
