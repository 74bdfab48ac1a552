// The driver's functions about streams, events and host functions.
#include <algorithm>
#include <chrono>

#include "hotaru/backend/soft_gpu/call.h"
#include "hotaru/backend/soft_gpu/graph.h"

namespace hotaru::cuda {

using namespace hotaru::soft_gpu;

namespace {

/// A call about one stream, which may be another device's. Not while it is
/// captured: there is nothing to wait for or to ask.
struct StreamCall : Call {
  explicit StreamCall(CUstream handle) : Call(kContext) {
    if (error != CUDA_SUCCESS) return;
    stream = find(handle);
    if (!stream) {
      error = CUDA_ERROR_INVALID_HANDLE;
    } else if (stream->capture) {
      stream->capture->valid = false;
      error = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }

  CUresult device_error() { return machine().devices[stream->device].error; }

  StreamPtr stream;
};

/// A call about one event, from whichever context.
struct EventCall : Call {
  explicit EventCall(CUevent event) : Call(kContext) {
    if (error == CUDA_SUCCESS && !has_event(event))
      error = CUDA_ERROR_INVALID_HANDLE;
  }
};

bool passed(const CUevent_st& event) {
  return !event.last || event.last->done;
}

}  // namespace

CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned flags,
                                    int priority) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!handle || flags > CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  const auto stream = std::make_shared<CUstream_st>();
  stream->device = call.device();
  stream->flags = flags;
  stream->priority = std::clamp(priority, -5, 0);
  static uint32_t last_number = 12;  // under the machine's lock
  stream->number = ++last_number;
  *handle = stream.get();
  call.machine().streams.emplace(stream.get(), stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  // Operations that it holds still run: the executor keeps it until then.
  return call.machine().streams.erase(handle) == 1 ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamQuery(CUstream handle) {
  StreamCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (call.machine().idle(call.stream)) return call.device_error();
  call.machine().nudge();
  return CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(CUstream handle) {
  StreamCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (call.stream->legacy)  // which the blocking ones belong to
    call.machine().enqueue(call.stream, {});
  call.machine().wait_for_stream(call.lock(), call.stream);
  return call.device_error();
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  StreamCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!call.has_event(event)) return CUDA_ERROR_INVALID_HANDLE;
  if (!event->last) return CUDA_SUCCESS;
  Operation operation;
  operation.awaits = event->last;
  call.machine().enqueue(call.stream, std::move(operation));
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  StreamCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  *priority = call.stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  Call call(Call::kContext);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!handle || flags > (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_VALUE;
  auto event = std::make_unique<CUevent_st>();
  event->device = call.device();
  event->flags = flags;
  *handle = event.get();
  call.machine().events.emplace(event.get(), std::move(event));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  EventCall call(event);
  if (call.error != CUDA_SUCCESS) return call.error;
  call.machine().events.erase(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
  StreamCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!call.has_event(event) || event->device != call.stream->device)
    return CUDA_ERROR_INVALID_HANDLE;
  event->last = std::make_shared<Recording>();
  Operation operation;
  operation.records = event->last;
  call.machine().enqueue(call.stream, std::move(operation));
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  EventCall call(event);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (passed(*event)) return call.machine().devices[event->device].error;
  call.machine().nudge();
  return CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  EventCall call(event);
  if (call.error != CUDA_SUCCESS) return call.error;
  const auto last = event->last;
  const int device = event->device;
  if (last) call.machine().wait(call.lock(), [&] { return last->done; });
  return call.machine().devices[device].error;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  EventCall call(start);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  if (!call.has_event(end) || start->device != end->device || !start->last ||
      !end->last || (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!passed(*start) || !passed(*end)) {
    call.machine().nudge();
    return CUDA_ERROR_NOT_READY;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->last->time -
                                                           start->last->time)
                      .count();
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback,
                             void* data, unsigned flags) {
  StreamCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Operation operation;
  operation.callback = [callback, handle, data](CUresult error) {
    callback(handle, error, data);
  };
  call.machine().enqueue(call.stream, std::move(operation));
  return CUDA_SUCCESS;
}

}  // namespace hotaru::cuda
