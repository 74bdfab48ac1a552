// The driver's functions about kernels. An image is a module (module.h), or
// anything else: then the kernels are those compiled into this library, known
// by name.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "hotaru/backend/soft_gpu/call.h"
#include "hotaru/backend/soft_gpu/graph.h"
#include "hotaru/backend/soft_gpu/grid.h"
#include "hotaru/backend/soft_gpu/modules.h"

namespace hotaru::cuda {

struct CUlib_st {
  /// Null: those of this library.
  const soft_gpu::Module* module;
};

/// A kernel on one device.
struct CUfunc_st {
  const soft_gpu::KernelCode* kernel;
  int device;
  int dynamic_shared = soft_gpu::kSharedBytes;
};

struct CUkern_st {
  CUfunc_st on[soft_gpu::kMaxDevices];
};

using namespace hotaru::soft_gpu;

namespace {

// Under the machine's lock. Never destroyed: somebody may launch until the
// process is gone.
auto& libraries = *new std::set<CUlibrary>;
auto& kernels = *new std::map<const KernelCode*, std::unique_ptr<CUkern_st>>;
auto& own_codes = *new std::map<const KernelRegistration*, const KernelCode*>;
auto& functions = *new std::set<CUfunction>;

/// Code of a kernel in this library; null if there is none of that name.
const KernelCode* own_code(const char* name) {
  const KernelRegistration* const registration = find_kernel(name);
  if (!registration) return nullptr;
  const KernelCode*& code = own_codes[registration];
  if (!code) code = code_of(*registration);
  return code;
}

CUkernel make_kernel(const KernelCode* code) {
  auto& kernel = kernels[code];
  if (!kernel) {
    kernel = std::make_unique<CUkern_st>();
    for (int i = 0; i < kMaxDevices; ++i) {
      kernel->on[i].kernel = code;
      kernel->on[i].device = i;
      functions.insert(&kernel->on[i]);
    }
  }
  return kernel.get();
}

bool is_kernel(CUkernel kernel) {
  return std::any_of(kernels.begin(), kernels.end(), [&](const auto& entry) {
    return entry.second.get() == kernel;
  });
}

/// A call about one function, which must be the current context's device's.
struct FunctionCall : Call {
  explicit FunctionCall(CUfunction function) : Call(kContext) {
    if (error == CUDA_SUCCESS &&
        (!functions.contains(function) || function->device != device()))
      error = CUDA_ERROR_INVALID_HANDLE;
  }
};

bool fits(const dim3& grid, const dim3& block) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  return threads != 0 && threads <= kMaxBlockThreads && block.x <= 1024 &&
         block.y <= 1024 && block.z <= 64 && grid.x != 0 && grid.y != 0 &&
         grid.z != 0 && grid.x <= 0x7FFFFFFF && grid.y <= 65535 &&
         grid.z <= 65535;
}

/// The parameters as they were at the launch, aligned for any type; null if
/// one of them is missing.
std::shared_ptr<void> copied(void* const* params, const KernelCode& kernel) {
  constexpr size_t kAlignment = 64;
  size_t bytes = 0;
  for (const size_t size : kernel.sizes) bytes += KernelCode::padded(size);
  std::shared_ptr<void> copy(
      std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment),
      std::free);
  auto* to = static_cast<std::byte*>(copy.get());
  for (size_t i = 0; i < kernel.sizes.size(); ++i) {
    if (!params || !params[i]) return nullptr;
    std::memcpy(to, params[i], kernel.sizes[i]);
    to += KernelCode::padded(kernel.sizes[i]);
  }
  return copy;
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*,
                           void**, unsigned, CUlibraryOption*, void**,
                           unsigned) {
  Call call(Call::kMachine);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!library || !image) return CUDA_ERROR_INVALID_VALUE;
  const Module* module = nullptr;
  if (is_module(image)) {
    module = load_module(image);
    if (!module) return CUDA_ERROR_INVALID_IMAGE;
  }
  *library = *libraries.insert(new CUlib_st{module}).first;
  return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library) {
  Call call(Call::kMachine);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (libraries.erase(library) == 0) return CUDA_ERROR_INVALID_HANDLE;
  delete library;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library,
                            const char* name) {
  Call call(Call::kMachine);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!kernel || !name) return CUDA_ERROR_INVALID_VALUE;
  if (!libraries.contains(library)) return CUDA_ERROR_INVALID_HANDLE;
  const KernelCode* const found =
      library->module ? find_kernel(*library->module, name) : own_code(name);
  if (!found) return CUDA_ERROR_NOT_FOUND;
  *kernel = make_kernel(found);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  if (!is_kernel(kernel)) return CUDA_ERROR_INVALID_HANDLE;
  *function = &kernel->on[call.device()];
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                            int value) {
  FunctionCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      value < 0 || value > int(kSharedBytesOptIn))
    return CUDA_ERROR_INVALID_VALUE;
  function->dynamic_shared = value;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                            CUfunction function) {
  FunctionCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = kMaxBlockThreads;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 32;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 90;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->dynamic_shared;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                     CUfunction function,
                                                     int block_size,
                                                     size_t shared_bytes) {
  FunctionCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!blocks || block_size < 1) return CUDA_ERROR_INVALID_VALUE;
  if (block_size > int(kMaxBlockThreads) || shared_bytes > kSharedBytesOptIn) {
    *blocks = 0;
    return CUDA_SUCCESS;
  }
  constexpr size_t kSharedOfAll = 228 << 10, kReserved = 1 << 10;
  const int warps = (block_size + 31) / 32;
  *blocks = std::min(
      {32, 64 / warps, int(kSharedOfAll / (shared_bytes + kReserved))});
  return CUDA_SUCCESS;
}

}  // namespace hotaru::cuda

namespace hotaru::soft_gpu {

using namespace hotaru::cuda;

CUresult make_launch(Call& call, const CUDA_KERNEL_NODE_PARAMS& p,
                     Operation& operation) {
  if (!functions.contains(p.func) || p.func->device != call.device())
    return CUDA_ERROR_INVALID_HANDLE;
  const KernelCode* kernel = p.func->kernel;
  const dim3 grid(p.gridDimX, p.gridDimY, p.gridDimZ),
      block(p.blockDimX, p.blockDimY, p.blockDimZ);
  if (!fits(grid, block) || p.extra ||
      p.sharedMemBytes > unsigned(p.func->dynamic_shared))
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<void> copy = copied(p.kernelParams, *kernel);
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  operation.opens = call.device();
  operation.launches = true;
  Activity& does = operation.does.emplace();
  does.name = kernel->name;
  does.grid = grid;
  does.block = block;
  does.shared_bytes = p.sharedMemBytes;
  operation.run = [kernel, grid, block, shared = p.sharedMemBytes,
                   machine = &call.machine(), copy = std::move(copy)] {
    return run_grid({kernel, grid, block, shared, copy.get()},
                    machine->random());
  };
  return CUDA_SUCCESS;
}

}  // namespace hotaru::soft_gpu

namespace hotaru::cuda {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared_bytes,
                        CUstream handle, void** params, void** extra) {
  FunctionCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  const StreamPtr stream = call.find(handle);
  if (!stream || stream->device != call.device())
    return CUDA_ERROR_INVALID_HANDLE;
  Operation operation;
  const CUresult result =
      make_launch(call,
                  {function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                   shared_bytes, params, extra, nullptr, nullptr},
                  operation);
  if (result == CUDA_SUCCESS)
    call.machine().enqueue(stream, std::move(operation));
  return result;
}

}  // namespace hotaru::cuda
