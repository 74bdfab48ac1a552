#include "hotaru/backend/soft_gpu/modules.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "hotaru/backend/soft_gpu/module.h"

namespace hotaru::soft_gpu {
namespace {

constexpr char kMagic[] = "SOFTGPU1";
constexpr size_t kMagicSize = sizeof(kMagic) - 1;

constexpr ModuleHost host{&threadIdx,    &blockIdx,  &blockDim,
                          &gridDim,      sync_block, sync_warp,
                          shuffle,       lane,       dynamic_shared_bytes,
                          wait_for_grids};

/// Opens an object that lies in a file only for that long. The loader knows
/// files by name, so each gets another one.
void* open_object(const char* bytes, size_t count) {
  char path[] = "/tmp/hotaru-soft-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return nullptr;
  size_t written = 0;
  while (written < count) {
    const ssize_t n = write(file, bytes + written, count - written);
    if (n <= 0) break;
    written += size_t(n);
  }
  close(file);
  void* const object =
      written == count ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path);
  return object;
}

/// The symbol of a function, or what it was asked for by if it has none.
std::string name_of(const ModuleKernel& kernel) {
  Dl_info info{};
  return dladdr(kernel.function, &info) && info.dli_sname &&
                 info.dli_saddr == kernel.function
             ? info.dli_sname
             : kernel.expression;
}

}  // namespace

std::string image_of_object(std::string_view object) {
  const uint64_t size = object.size();
  std::string out = kMagic;
  out.append(reinterpret_cast<const char*>(&size), sizeof(size));
  return out.append(object);
}

bool is_module(const void* image) {
  return std::strncmp(static_cast<const char*>(image), kMagic, kMagicSize) == 0;
}

const Module* load_module(const void* image) {
  const auto* const bytes = static_cast<const char*>(image) + kMagicSize;
  uint64_t size = 0;
  std::memcpy(&size, bytes, sizeof(size));
  void* const object = open_object(bytes + sizeof(size), size);
  if (!object) return nullptr;
  const auto entry = reinterpret_cast<ModuleEntry>(dlsym(object, kModuleEntry));
  if (!entry) return nullptr;
  size_t count = 0;
  const ModuleKernel* const all = entry(&host, &count);
  auto* const module = new Module;
  for (size_t i = 0; i < count; ++i) {
    module->names.push_back(name_of(all[i]));
    module->kernels.push_back({nullptr,
                               {all[i].sizes, all[i].sizes + all[i].parameters},
                               all[i].run,
                               all[i].synchronises});
  }
  for (size_t i = 0; i < count; ++i)
    module->kernels[i].name = module->names[i].c_str();
  return module;
}

const KernelCode* find_kernel(const Module& module, std::string_view name) {
  for (size_t i = 0; i < module.names.size(); ++i)
    if (module.names[i] == name) return &module.kernels[i];
  return nullptr;
}

}  // namespace hotaru::soft_gpu
