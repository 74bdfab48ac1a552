// Every function of CUPTI that hotaru calls, the numbers that it calls them
// with and the fields of records that it reads, declared by ourselves: no
// header of NVIDIA is needed to build. The fields lie where they do in CUPTI's
// own records of CUDA 12.1 to 13.5, which grow at their ends only; tests
// compare them with cupti.h where it lies. All functions return a status, 0
// where it went well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hotaru/backend/cuda/driver_types.h"

namespace hotaru::cuda::cupti {

inline constexpr int kSuccess = 0, kInvalidParameter = 1, kInvalidOperation = 7,
                     kNoMore = 12, kNotCompatible = 14, kQueueEmpty = 18,
                     kInvalidKind = 21;

/// Answers of cuptiGetVersion for the first and last library that was looked
/// at: 18 to 28 come with CUDA 12, later ones are 10000 * major + 100 * minor.
inline constexpr uint32_t kFirst = 18, kLast12 = 28, kFirst13 = 130000,
                          kLast13 = 130599;

enum Kind : int {
  kCopy = 1,
  kFill = 2,
  kDriver = 4,
  kRuntime = 5,
  kKernel = 10,
  kPeerCopy = 22,
  kExternal = 39
};
/// CUpti_ExternalCorrelationKind: who counts the numbers.
enum Counter : int { kOurs = 3 };
enum FlushFlag : uint32_t { kDone = 0, kForced = 1 };
inline constexpr size_t kAlignment = 8;

using RequestBuffer = void (*)(uint8_t** buffer, size_t* size, size_t* most);
using CompleteBuffer = void (*)(CUcontext, uint32_t stream, uint8_t* buffer,
                                size_t size, size_t used);
using Timestamp = uint64_t (*)();

/// The beginnings of records. Times are 0 where they are not known.
struct Record {
  int kind;
};
struct KernelRecord {
  int kind;
  uint8_t cache, shared_config;
  uint16_t registers;
  uint32_t partitioned[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_memory, all_local_memory;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;  // for as long as the library is there
  void* reserved;
  uint64_t queued, submitted;
  uint8_t launch[4];
  uint32_t shared_executed;
  uint64_t graph_node;
  int shared_limit;
  uint32_t graph;
};
struct CopyRecord {
  int kind;
  uint8_t way, from, to, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
  uint32_t correlation, runtime_correlation, pad;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph;
};
struct PeerCopyRecord {
  int kind;
  uint8_t way, from, to, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
  uint32_t from_device, from_context, to_device, to_context;
  uint32_t correlation;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph;
};
struct FillRecord {
  int kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
  uint32_t correlation;
  uint16_t flags, memory;
  uint32_t pad;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph;
};
struct ExternalRecord {
  int kind;
  int counter;
  uint64_t number;
  uint32_t correlation;
};

// clang-format off
#define HOTARU_CUPTI_ENTRIES(X) \
  X(version, cuptiGetVersion, (uint32_t* version)) \
  X(register_buffers, cuptiActivityRegisterCallbacks, (::hotaru::cuda::cupti::RequestBuffer request, ::hotaru::cuda::cupti::CompleteBuffer complete)) \
  X(register_clock, cuptiActivityRegisterTimestampCallback, (::hotaru::cuda::cupti::Timestamp clock)) \
  X(enable, cuptiActivityEnable, (int kind)) \
  X(disable, cuptiActivityDisable, (int kind)) \
  X(flush, cuptiActivityFlushAll, (uint32_t flag)) \
  X(next, cuptiActivityGetNextRecord, (uint8_t* buffer, size_t used, ::hotaru::cuda::cupti::Record** record)) \
  X(dropped, cuptiActivityGetNumDroppedRecords, (::hotaru::cuda::CUcontext context, uint32_t stream, size_t* dropped)) \
  X(push, cuptiActivityPushExternalCorrelationId, (int counter, uint64_t number)) \
  X(pop, cuptiActivityPopExternalCorrelationId, (int counter, uint64_t* last)) \
  X(text_of, cuptiGetResultString, (int status, const char** text))
// clang-format on

}  // namespace hotaru::cuda::cupti
