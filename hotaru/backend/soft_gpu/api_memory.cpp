// The driver's functions about memory, but for copies.
#include <cstdlib>
#include <cstring>

#include "hotaru/backend/soft_gpu/call.h"

namespace hotaru::cuda {

using namespace hotaru::soft_gpu;

namespace {

constexpr size_t kPage = 4096;

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

/// Nobody else may hold what the device still works on.
void wait_for_all(Call& call) {
  for (int i = 0; call.has_device(i); ++i)
    call.machine().wait_for_device(call.lock(), i);
}

bool usable(const CUmemAllocationProp* prop, const Call& call) {
  return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
         call.has_device(prop->location.id);
}

template <class T>
CUresult answer(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
  *total = call.memory().total();
  *free = *total - call.memory().used(call.device());
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!address) return CUDA_ERROR_INVALID_VALUE;
  uint64_t start = 0;
  const CUresult error = call.memory().allocate(call.device(), bytes, start);
  if (error == CUDA_SUCCESS) *address = start;
  return error;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS || address == 0) return call.error;
  wait_for_all(call);
  return call.memory().free(address);
}

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* memory = nullptr;
  if (posix_memalign(&memory, kPage, bytes) != 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(memory, 0xFF, bytes);
  call.memory().pin(address_of(memory), bytes, call.device(), false);
  *address = memory;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* address) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  wait_for_all(call);
  const CUresult error = call.memory().unpin(address_of(address), false);
  if (error == CUDA_SUCCESS) std::free(address);
  return error;
}

CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return call.memory().pin(address_of(address), bytes, call.device(), true);
}

CUresult cuMemHostUnregister(void* address) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  wait_for_all(call);
  return call.memory().unpin(address_of(address), true);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_address,
                                      void* address, unsigned flags) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!device_address || flags != 0 ||
      !call.memory().find_pinned(address_of(address), 1))
    return CUDA_ERROR_INVALID_VALUE;
  *device_address = address_of(address);
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  const Region* region = call.memory().find(address);
  const auto* pinned = call.memory().find_pinned(address, 1);
  if (!value || (!region && !pinned)) return CUDA_ERROR_INVALID_VALUE;
  const int device = region ? region->device : pinned->second.device;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer(value, &call.machine().devices[device].context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(value, region ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return answer(value, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return region ? CUDA_ERROR_INVALID_VALUE : answer(value, address);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return answer(value, false);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer(value, device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return answer(value, region ? region->first : pinned->first);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return answer(
          value, region ? region->end - region->first : pinned->second.bytes);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes,
                             size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!address || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  uint64_t start = 0;
  const CUresult error = call.memory().reserve(bytes, alignment, start);
  if (error == CUDA_SUCCESS) *address = start;
  return error;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  return call.memory().free_reservation(address, bytes);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* prop,
                     unsigned long long flags) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!handle || flags != 0 || !usable(prop, call))
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t number = 0;
  const CUresult error = call.memory().create(prop->location.id, bytes, number);
  if (error == CUDA_SUCCESS) *handle = number;
  return error;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  return call.memory().release(handle);
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return call.memory().map(address, bytes, offset, handle);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  return call.memory().unmap(address, bytes);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes,
                        const CUmemAccessDesc* descriptions, size_t count) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!descriptions || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc& one = descriptions[i];
    if (one.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        !call.has_device(one.location.id))
      return CUDA_ERROR_INVALID_VALUE;
    const CUresult error =
        call.memory().set_access(address, bytes, one.location.id,
                                 one.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE);
    if (error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t* granularity,
                                       const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags) {
  const Call call(Call::kMachine);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!granularity || !usable(prop, call)) return CUDA_ERROR_INVALID_VALUE;
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

}  // namespace hotaru::cuda
