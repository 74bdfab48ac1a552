// Memory that CUPTI writes records into: asked for and given back from any
// thread, so many bytes at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hotaru/backend/cuda/cupti/cupti_entries.h"

namespace hotaru::cuda {

/// From now on there are so many mebibytes as HOTARU_CUPTI_BUFFER_MB in the
/// environment says, for what is CUPTI's and for what was not taken yet.
void limit_activity_buffers();

/// One that CUPTI has given back with records in it.
struct ActivityBuffer {
  std::unique_ptr<uint8_t[]> data;
  size_t used;
};

/// CUPTI's callbacks. Beyond the limit there is no buffer, and CUPTI counts
/// what it then has to drop. A buffer that comes back and was not asked for
/// here, but by another profiler of the process, is left alone.
void request_activity_buffer(uint8_t** buffer, size_t* size, size_t* most);
void complete_activity_buffer(CUcontext context, uint32_t stream,
                              uint8_t* buffer, size_t size, size_t used);

/// Buffers that were given back since, in that order.
std::vector<ActivityBuffer> take_activity_buffers();

}  // namespace hotaru::cuda
