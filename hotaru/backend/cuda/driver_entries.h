// Every function of the driver that hotaru calls: its name here, its symbol in
// libcuda.so.1 and its parameters. All return CUresult. The table, the loader
// and the GPU in software are made from these lists.
#pragma once

#include "hotaru/backend/cuda/driver_types.h"

// clang-format off
#define HOTARU_CUDA_ENTRIES(X) \
  X(cuInit, cuInit, (unsigned flags)) \
  X(cuDriverGetVersion, cuDriverGetVersion, (int* version)) \
  X(cuGetErrorName, cuGetErrorName, (CUresult error, const char** text)) \
  X(cuGetErrorString, cuGetErrorString, (CUresult error, const char** text)) \
  X(cuDeviceGet, cuDeviceGet, (CUdevice* device, int ordinal)) \
  X(cuDeviceGetCount, cuDeviceGetCount, (int* count)) \
  X(cuDeviceGetName, cuDeviceGetName, (char* name, int length, CUdevice device)) \
  X(cuDeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid* uuid, CUdevice device)) \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int* value, CUdevice_attribute attribute, CUdevice device)) \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t* bytes, CUdevice device)) \
  X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, (int* can, CUdevice device, CUdevice peer)) \
  X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char* id, int length, CUdevice device)) \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext* context, CUdevice device)) \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device)) \
  X(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, (CUdevice device, unsigned* flags, int* active)) \
  X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context)) \
  X(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext* context)) \
  X(cuCtxSynchronize, cuCtxSynchronize, ()) \
  X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, (int* least, int* greatest)) \
  X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags)) \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t* free, size_t* total)) \
  X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr* address, size_t bytes)) \
  X(cuMemFree, cuMemFree_v2, (CUdeviceptr address)) \
  X(cuMemHostAlloc, cuMemHostAlloc, (void** address, size_t bytes, unsigned flags)) \
  X(cuMemFreeHost, cuMemFreeHost, (void* address)) \
  X(cuMemHostRegister, cuMemHostRegister_v2, (void* address, size_t bytes, unsigned flags)) \
  X(cuMemHostUnregister, cuMemHostUnregister, (void* address)) \
  X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (CUdeviceptr* device_address, void* address, unsigned flags)) \
  X(cuPointerGetAttribute, cuPointerGetAttribute, (void* value, CUpointer_attribute attribute, CUdeviceptr address)) \
  X(cuMemcpyAsync, cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream)) \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  X(cuMemcpyPeerAsync, cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, CUstream stream)) \
  X(cuMemsetD8Async, cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream)) \
  X(cuMemsetD32Async, cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t count, CUstream stream)) \
  X(cuMemAddressReserve, cuMemAddressReserve, (CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr hint, unsigned long long flags)) \
  X(cuMemAddressFree, cuMemAddressFree, (CUdeviceptr address, size_t bytes)) \
  X(cuMemCreate, cuMemCreate, (CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* prop, unsigned long long flags)) \
  X(cuMemRelease, cuMemRelease, (CUmemGenericAllocationHandle handle)) \
  X(cuMemMap, cuMemMap, (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags)) \
  X(cuMemUnmap, cuMemUnmap, (CUdeviceptr address, size_t bytes)) \
  X(cuMemSetAccess, cuMemSetAccess, (CUdeviceptr address, size_t bytes, const CUmemAccessDesc* descriptions, size_t count)) \
  X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity, (size_t* granularity, const CUmemAllocationProp* prop, CUmemAllocationGranularity_flags option)) \
  X(cuStreamCreateWithPriority, cuStreamCreateWithPriority, (CUstream* stream, unsigned flags, int priority)) \
  X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream)) \
  X(cuStreamQuery, cuStreamQuery, (CUstream stream)) \
  X(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream)) \
  X(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags)) \
  X(cuStreamGetPriority, cuStreamGetPriority, (CUstream stream, int* priority)) \
  X(cuEventCreate, cuEventCreate, (CUevent* event, unsigned flags)) \
  X(cuEventDestroy, cuEventDestroy_v2, (CUevent event)) \
  X(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream)) \
  X(cuEventQuery, cuEventQuery, (CUevent event)) \
  X(cuEventSynchronize, cuEventSynchronize, (CUevent event)) \
  X(cuEventElapsedTime, cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end)) \
  X(cuLaunchKernel, cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params, void** extra)) \
  X(cuStreamAddCallback, cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void* data, unsigned flags)) \
  X(cuLibraryLoadData, cuLibraryLoadData, (CUlibrary* library, const void* image, CUjit_option* jit_options, void** jit_values, unsigned jit_count, CUlibraryOption* options, void** values, unsigned count)) \
  X(cuLibraryUnload, cuLibraryUnload, (CUlibrary library)) \
  X(cuLibraryGetKernel, cuLibraryGetKernel, (CUkernel* kernel, CUlibrary library, const char* name)) \
  X(cuKernelGetFunction, cuKernelGetFunction, (CUfunction* function, CUkernel kernel)) \
  X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value)) \
  X(cuFuncGetAttribute, cuFuncGetAttribute, (int* value, CUfunction_attribute attribute, CUfunction function)) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor, (int* blocks, CUfunction function, int block_size, size_t shared_bytes))

// Entries of graphs, which came with CUDA 12.3: an older driver goes without.
#define HOTARU_CUDA_GRAPH_ENTRIES(X) \
  X(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, (CUstream stream, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode)) \
  X(cuStreamEndCapture, cuStreamEndCapture, (CUstream stream, CUgraph* graph)) \
  X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v3, (CUstream stream, CUstreamCaptureStatus* status, unsigned long long* id, CUgraph* graph, const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count)) \
  X(cuGraphCreate, cuGraphCreate, (CUgraph* graph, unsigned flags)) \
  X(cuGraphDestroy, cuGraphDestroy, (CUgraph graph)) \
  X(cuGraphGetNodes, cuGraphGetNodes, (CUgraph graph, CUgraphNode* nodes, size_t* count)) \
  X(cuGraphInstantiate, cuGraphInstantiateWithFlags, (CUgraphExec* executable, CUgraph graph, unsigned long long flags)) \
  X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec executable)) \
  X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec executable, CUstream stream)) \
  X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, (CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params))

// Edges of graphs with what CUDA calls their data; also of CUDA 12.3. Graphs do
// without if need be.
#define HOTARU_CUDA_EDGE_ENTRIES(X) \
  X(cuGraphGetEdges, cuGraphGetEdges_v2, (CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, size_t* count)) \
  X(cuGraphAddDependencies, cuGraphAddDependencies_v2, (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* edges, size_t count)) \
  X(cuGraphRemoveDependencies, cuGraphRemoveDependencies_v2, (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* edges, size_t count))
// clang-format on
