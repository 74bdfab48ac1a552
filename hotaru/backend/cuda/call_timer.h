// Times of calls on CUDA streams, for a profile, where kernels can't be told
// apart (see cupti/activity_timer.h): an event of the driver before and one
// behind each call, read when the profile is over.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "hotaru/runtime/device_timer.h"

namespace hotaru::cuda {

/// With what its profile shall say of that.
std::shared_ptr<DeviceTimer> make_call_timer(std::string complaint);

/// Notes by kernel functions on a call that is timed; nothing of others: that
/// it is a copy of so many bytes, by the name that traces have for it, and that
/// the device's part ends here, as the host is about to wait for it.
void note_copy(const char* name, size_t bytes);
void note_end();

}  // namespace hotaru::cuda
