// Activity of devices, told to who wants to know: the stand-in for CUPTI.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "hotaru/backend/soft_gpu/vector_types.h"

namespace hotaru::soft_gpu {

using Clock = std::chrono::steady_clock;

enum class Place { kDevice, kPinned, kPageable };

struct Activity {
  enum Kind { kKernel, kCopy, kPeerCopy, kFill };

  Kind kind = kKernel;
  int device = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;  // the listener's
  // Fields of a kernel.
  const char* name = "";
  dim3 grid, block;
  unsigned shared_bytes = 0;
  // Fields of a copy; a fill has one place.
  Place from = Place::kDevice, to = Place::kDevice;
  size_t bytes = 0;
};

class ActivityListener {
 public:
  /// In the thread that launches, all but the correlation is known; null: not
  /// of interest.
  virtual std::shared_ptr<Activity> launch(const Activity& does) = 0;
  virtual void end(const Activity& activity, Clock::time_point begin,
                   Clock::time_point end) = 0;

 protected:
  ~ActivityListener() = default;
};
/// Set once, and never destroyed.
inline std::atomic<ActivityListener*> activity_listener{nullptr};

inline std::shared_ptr<Activity> begin_activity(const Activity& does) {
  ActivityListener* const listener = activity_listener;
  return listener ? listener->launch(does) : nullptr;
}
inline void end_activity(const Activity& activity, Clock::time_point begin) {
  activity_listener.load()->end(activity, begin, Clock::now());
}

}  // namespace hotaru::soft_gpu
