// The driver's copies and fills. Device memory and pinned memory are read and
// written when the executor gets there; pageable memory as the driver promises:
// a source before the call returns, a destination until it returns.
#include <cstring>
#include <memory>
#include <vector>

#include "hotaru/backend/soft_gpu/call.h"
#include "hotaru/backend/soft_gpu/fault.h"
#include "hotaru/backend/soft_gpu/graph.h"

namespace hotaru::cuda {

using namespace hotaru::soft_gpu;

namespace {

Place place_of(const Memory& memory, uint64_t address, size_t bytes) {
  if (memory.find(address)) return Place::kDevice;
  return memory.find_pinned(address, bytes) ? Place::kPinned : Place::kPageable;
}

struct Move {
  void* to;
  const void* from;
  size_t bytes;
};

CUresult run_move(Move move) {
  return guarded(
      [](void* argument) {
        const auto& move = *static_cast<const Move*>(argument);
        std::memmove(move.to, move.from, move.bytes);
      },
      &move);
}

/// Ends of a copy as the caller states them.
enum class Ends { kAny, kHostToDevice, kDeviceToHost, kDeviceToDevice };

CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle,
              Ends ends, Activity::Kind kind = Activity::kCopy) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  const StreamPtr stream = call.find(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0) return CUDA_SUCCESS;
  const Memory& memory = call.memory();
  const Place target = place_of(memory, to, bytes);
  const Place source = place_of(memory, from, bytes);
  const bool from_device =
      ends == Ends::kDeviceToHost || ends == Ends::kDeviceToDevice;
  const bool to_device =
      ends == Ends::kHostToDevice || ends == Ends::kDeviceToDevice;
  if (ends != Ends::kAny && ((from_device && source == Place::kPageable) ||
                             (to_device && target == Place::kPageable)))
    return CUDA_ERROR_INVALID_VALUE;
  if ((source == Place::kDevice && !memory.covers(from, bytes)) ||
      (target == Place::kDevice && !memory.covers(to, bytes)))
    return CUDA_ERROR_INVALID_VALUE;
  // A graph would read and write the host's memory at any time.
  if (stream->capture &&
      (source == Place::kPageable || target == Place::kPageable)) {
    stream->capture->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  Operation operation;
  operation.opens = kEverybodys;
  Move move{reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
            bytes};
  if (source == Place::kPageable && target != Place::kPageable) {
    const auto* first = static_cast<const std::byte*>(move.from);
    auto staged =
        std::make_shared<std::vector<std::byte>>(first, first + bytes);
    operation.run = [move, staged]() mutable {
      move.from = staged->data();
      return run_move(move);
    };
  } else {
    operation.run = [move] { return run_move(move); };
  }
  Activity& does = operation.does.emplace();
  does.kind = kind;
  does.from = source;
  does.to = target;
  does.bytes = bytes;
  call.machine().enqueue(stream, std::move(operation));
  if (target != Place::kPageable) return CUDA_SUCCESS;
  call.machine().wait_for_stream(call.lock(), stream);
  return call.machine().devices[stream->device].error;
}

template <class T>
CUresult fill(CUdeviceptr to, T value, size_t count, CUstream handle) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  const StreamPtr stream = call.find(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (count == 0) return CUDA_SUCCESS;
  const Memory& memory = call.memory();
  if (to % sizeof(T) != 0 || !(memory.covers(to, count * sizeof(T)) ||
                               memory.find_pinned(to, count * sizeof(T))))
    return CUDA_ERROR_INVALID_VALUE;
  struct Fill {
    T* to;
    T value;
    size_t count;
  };
  Operation operation;
  operation.opens = kEverybodys;
  operation.run = [fill =
                       Fill{reinterpret_cast<T*>(to), value, count}]() mutable {
    return guarded(
        [](void* argument) {
          const Fill& fill = *static_cast<const Fill*>(argument);
          for (size_t i = 0; i < fill.count; ++i) fill.to[i] = fill.value;
        },
        &fill);
  };
  Activity& does = operation.does.emplace();
  does.kind = Activity::kFill;
  does.to = memory.find(to) ? Place::kDevice : Place::kPinned;
  does.bytes = count * sizeof(T);
  call.machine().enqueue(stream, std::move(operation));
  return CUDA_SUCCESS;
}

CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream) {
  return copy(to, from, bytes, stream, Ends::kAny);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                              CUstream stream) {
  return copy(to, address_of(from), bytes, stream, Ends::kHostToDevice);
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  return copy(address_of(to), from, bytes, stream, Ends::kDeviceToHost);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  return copy(to, from, bytes, stream, Ends::kDeviceToDevice);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context,
                           CUdeviceptr from, CUcontext from_context,
                           size_t bytes, CUstream stream) {
  {
    Call call(Call::kContext);
    if (call.error != CUDA_SUCCESS) return call.error;
    const auto is_on = [&](CUdeviceptr address, CUcontext context) {
      const Region* region = call.memory().find(address);
      return region && context && region->device == context->device;
    };
    if (!is_on(to, to_context) || !is_on(from, from_context))
      return CUDA_ERROR_INVALID_VALUE;
  }
  return copy(to, from, bytes, stream, Ends::kDeviceToDevice,
              Activity::kPeerCopy);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                         CUstream stream) {
  return fill(to, value, count, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                          CUstream stream) {
  return fill(to, value, count, stream);
}

}  // namespace hotaru::cuda
