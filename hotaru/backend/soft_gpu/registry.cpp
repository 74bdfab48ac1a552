#include "hotaru/backend/soft_gpu/registry.h"

#include <cstring>

namespace hotaru::soft_gpu {
namespace {

constinit const KernelRegistration* first = nullptr;

}  // namespace

KernelRegistration::KernelRegistration(const char* name, size_t params_bytes,
                                       void (*run)(const void* params),
                                       bool synchronises, bool waits)
    : name(name),
      params_bytes(params_bytes),
      run(run),
      synchronises(synchronises),
      waits(waits),
      next(first) {
  first = this;
}

const KernelRegistration* find_kernel(const char* name) {
  const KernelRegistration* kernel = first;
  while (kernel && std::strcmp(kernel->name, name) != 0) kernel = kernel->next;
  return kernel;
}

}  // namespace hotaru::soft_gpu
