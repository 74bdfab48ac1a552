// The driver's functions about itself, devices and contexts.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "hotaru/backend/soft_gpu/call.h"
#include "hotaru/backend/soft_gpu/grid.h"

namespace hotaru::soft_gpu {

using namespace hotaru::cuda;

thread_local CUcontext current_context = nullptr;

Call::Call(Needs needs) : machine_(soft_gpu::machine()) {
  if (!machine_) {
    error = CUDA_ERROR_NOT_INITIALIZED;
    return;
  }
  if (on_executor()) {
    error = CUDA_ERROR_NOT_PERMITTED;
    return;
  }
  lock_ = Machine::Lock(machine_->mutex);
  if (needs == kMachine) return;
  if (!current_context) {
    error = CUDA_ERROR_INVALID_CONTEXT;
    return;
  }
  device_ = current_context->device;
  error =
      state().retained == 0 ? CUDA_ERROR_CONTEXT_IS_DESTROYED : state().error;
}

extern "C" void hotaru_softgpu_fail(int device, int error) {
  Call call(Call::kMachine);
  if (call.error != CUDA_SUCCESS || !call.has_device(device)) return;
  call.machine().devices[size_t(device)].error = CUresult(error);
  call.machine().nudge();  // callbacks are called all the same
}

extern "C" size_t hotaru_softgpu_events() {
  Call call(Call::kMachine);
  return call.error == CUDA_SUCCESS ? call.machine().events.size() : 0;
}

bool Call::has_device(int device) const {
  return device >= 0 && device < int(machine_->devices.size());
}

StreamPtr Call::find(CUstream handle) const {
  return machine_->find(handle, device_);
}

bool Call::has_event(CUevent event) const {
  return machine_->events.contains(event);
}

namespace {

constexpr int kVersion = 13000;

struct Text {
  CUresult error;
  const char* name;
  const char* text;
};

#define HOTARU_TEXT(name, text) \
  { name, #name, text }
constexpr Text kTexts[] = {
    HOTARU_TEXT(CUDA_SUCCESS, "no error"),
    HOTARU_TEXT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    HOTARU_TEXT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    HOTARU_TEXT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    HOTARU_TEXT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    HOTARU_TEXT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    HOTARU_TEXT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    HOTARU_TEXT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    HOTARU_TEXT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    HOTARU_TEXT(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "no kernel image is available for execution on the device"),
    HOTARU_TEXT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    HOTARU_TEXT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    HOTARU_TEXT(CUDA_ERROR_NOT_READY, "device not ready"),
    HOTARU_TEXT(CUDA_ERROR_ILLEGAL_ADDRESS,
                "an illegal memory access was encountered"),
    HOTARU_TEXT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                "too many resources requested for launch"),
    HOTARU_TEXT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                "peer access is already enabled"),
    HOTARU_TEXT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
                "peer access has not been enabled"),
    HOTARU_TEXT(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    HOTARU_TEXT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                "part or all of the requested memory range is already mapped"),
    HOTARU_TEXT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                "pointer does not correspond to a registered memory region"),
    HOTARU_TEXT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    HOTARU_TEXT(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    HOTARU_TEXT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    HOTARU_TEXT(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
                "system has unsupported display driver / cuda driver "
                "combination"),
    HOTARU_TEXT(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef HOTARU_TEXT

CUresult find_text(CUresult error, const char* Text::*which,
                   const char** text) {
  const auto* found =
      std::find_if(std::begin(kTexts), std::end(kTexts),
                   [&](const Text& entry) { return entry.error == error; });
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = found == std::end(kTexts) ? nullptr : found->*which;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct Attribute {
  CUdevice_attribute attribute;
  int value;
};

// An H100's or H200's.
constexpr Attribute kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kMaxBlockThreads},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7FFFFFFF},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, kSharedBytes},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 << 20},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, kSharedBytesOptIn},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1 << 10},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0},
};

/// For functions about a device, which need no context.
struct DeviceCall : Call {
  DeviceCall(const void* out, CUdevice device) : Call(kMachine) {
    if (error != CUDA_SUCCESS) return;
    if (!out) error = CUDA_ERROR_INVALID_VALUE;
    if (!has_device(device)) error = CUDA_ERROR_INVALID_DEVICE;
  }
};

}  // namespace
}  // namespace hotaru::soft_gpu

namespace hotaru::cuda {

using namespace hotaru::soft_gpu;

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return make_machine() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = kVersion;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  return find_text(error, &Text::name, text);
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return find_text(error, &Text::text, text);
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  const DeviceCall call(device, ordinal);
  if (call.error == CUDA_SUCCESS) *device = ordinal;
  return call.error;
}

CUresult cuDeviceGetCount(int* count) {
  DeviceCall call(count, 0);
  if (call.error != CUDA_SUCCESS) return call.error;
  *count = int(call.machine().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  const DeviceCall call(name, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (length < 1) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, length, "hotaru soft GPU");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  const DeviceCall call(uuid, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  std::memcpy(uuid->bytes, "hotaru soft GPU", 15);
  uuid->bytes[15] = char(device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                              CUdevice device) {
  const DeviceCall call(value, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
    *value = device + 1;
    return CUDA_SUCCESS;
  }
  for (const Attribute& known : kAttributes) {
    if (known.attribute != attribute) continue;
    *value = known.value;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  DeviceCall call(bytes, device);
  if (call.error == CUDA_SUCCESS) *bytes = call.memory().total();
  return call.error;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  const DeviceCall call(can, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!call.has_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  const DeviceCall call(id, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (length < 13) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(id, length, "0000:%02X:00.0", device + 1);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  DeviceCall call(context, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  Device& state = call.machine().devices[device];
  ++state.retained;
  *context = &state.context;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  DeviceCall call(&device, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  Device& state = call.machine().devices[device];
  if (state.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (state.retained > 1) {
    --state.retained;
    return CUDA_SUCCESS;
  }
  // The end of the context. Its memory, streams and events stay here.
  call.machine().wait_for_device(call.lock(), device);
  if (--state.retained == 0) state.error = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags,
                                    int* active) {
  DeviceCall call(active, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (flags) *flags = 0;
  *active = call.machine().devices[device].retained != 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  Call call(Call::kMachine);
  if (call.error != CUDA_SUCCESS) return call.error;
  const auto& devices = call.machine().devices;
  if (context &&
      std::none_of(devices.begin(), devices.end(), [&](const Device& device) {
        return &device.context == context && device.retained != 0;
      }))
    return CUDA_ERROR_INVALID_CONTEXT;
  current_context = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  const Call call(Call::kMachine);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  call.machine().wait_for_device(call.lock(), call.device());
  return call.state().error;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  const Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!peer || peer->device == call.device()) return CUDA_ERROR_INVALID_CONTEXT;
  const unsigned bit = 1u << peer->device;
  if (call.state().peers & bit) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  call.state().peers |= bit;
  call.memory().allow_peer(call.device(), peer->device);
  return CUDA_SUCCESS;
}

}  // namespace hotaru::cuda
