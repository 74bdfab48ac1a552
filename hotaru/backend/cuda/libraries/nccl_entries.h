// Every function of NCCL that hotaru calls and the numbers that it calls them
// with, declared by ourselves: no header of NVIDIA is needed to build. They are
// those of NCCL 2.19 and later; tests compare them with nccl.h where it lies.
// All return a status, 0 where it went well.
#pragma once

#include <cstddef>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::cuda::nccl {

struct Comm_st;
using Comm = Comm_st*;
struct UniqueId {
  char internal[128];
};

/// ncclDataType_t.
enum Type : int {
  kInt8 = 0,
  kUInt8 = 1,
  kInt32 = 2,
  kUInt32 = 3,
  kInt64 = 4,
  kUInt64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBFloat16 = 9,
};
/// ncclRedOp_t; more are made by create_scaled.
enum Op : int { kSum = 0, kProd = 1, kMax = 2, kMin = 3, kAvg = 4 };
inline constexpr int kSuccess = 0, kHostImmediate = 1;

// clang-format off
#define HOTARU_NCCL_ENTRIES(X) \
  X(version, ncclGetVersion, (int* version)) \
  X(unique_id, ncclGetUniqueId, (::hotaru::cuda::nccl::UniqueId* id)) \
  X(init_rank, ncclCommInitRank, (::hotaru::cuda::nccl::Comm* comm, int size, ::hotaru::cuda::nccl::UniqueId id, int rank)) \
  X(destroy, ncclCommDestroy, (::hotaru::cuda::nccl::Comm comm)) \
  X(abort, ncclCommAbort, (::hotaru::cuda::nccl::Comm comm)) \
  X(async_error, ncclCommGetAsyncError, (::hotaru::cuda::nccl::Comm comm, int* error)) \
  X(create_scaled, ncclRedOpCreatePreMulSum, (int* op, void* factor, int type, int residence, ::hotaru::cuda::nccl::Comm comm)) \
  X(destroy_op, ncclRedOpDestroy, (int op, ::hotaru::cuda::nccl::Comm comm)) \
  X(all_reduce, ncclAllReduce, (const void* from, void* to, size_t count, int type, int op, ::hotaru::cuda::nccl::Comm comm, ::hotaru::cuda::CUstream stream)) \
  X(reduce, ncclReduce, (const void* from, void* to, size_t count, int type, int op, int root, ::hotaru::cuda::nccl::Comm comm, ::hotaru::cuda::CUstream stream)) \
  X(broadcast, ncclBroadcast, (const void* from, void* to, size_t count, int type, int root, ::hotaru::cuda::nccl::Comm comm, ::hotaru::cuda::CUstream stream)) \
  X(all_gather, ncclAllGather, (const void* from, void* to, size_t count, int type, ::hotaru::cuda::nccl::Comm comm, ::hotaru::cuda::CUstream stream)) \
  X(reduce_scatter, ncclReduceScatter, (const void* from, void* to, size_t count, int type, int op, ::hotaru::cuda::nccl::Comm comm, ::hotaru::cuda::CUstream stream)) \
  X(send, ncclSend, (const void* from, size_t count, int type, int peer, ::hotaru::cuda::nccl::Comm comm, ::hotaru::cuda::CUstream stream)) \
  X(receive, ncclRecv, (void* to, size_t count, int type, int peer, ::hotaru::cuda::nccl::Comm comm, ::hotaru::cuda::CUstream stream)) \
  X(group_start, ncclGroupStart, ()) \
  X(group_end, ncclGroupEnd, ())
// A pointer, not a status.
#define HOTARU_NCCL_TEXT_ENTRIES(X) \
  X(error_text, ncclGetErrorString, (int status)) \
  X(last_error, ncclGetLastError, (::hotaru::cuda::nccl::Comm comm))
// clang-format on

}  // namespace hotaru::cuda::nccl
