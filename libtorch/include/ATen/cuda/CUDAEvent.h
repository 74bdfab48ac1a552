// Points in the work of CUDA's streams.
#pragma once

#include "c10/cuda/CUDAGuard.h"
#include "hotaru/runtime/streams/event.h"

namespace at::cuda {

using c10::cuda::CUDAStream;
using c10::cuda::getCurrentCUDAStream;

constexpr unsigned kEventDefault = 0, kEventDisableTiming = 2;

/// Copies share the recording. One that was never recorded counts as done.
class CUDAEvent {
 public:
  /// CUDA's flags; cudaEventDefault (0) keeps times.
  explicit CUDAEvent(unsigned flags = kEventDisableTiming) : flags_(flags) {}

  bool isCreated() const { return event_.recorded(); }
  bool query() const { return event_.query(); }
  void record() { record(getCurrentCUDAStream()); }
  void recordOnce(const CUDAStream& stream) {
    if (!isCreated()) record(stream);
  }
  void record(const CUDAStream& stream) {
    if (!isCreated())
      event_ = hotaru::Event((flags_ & kEventDisableTiming) == 0,
                             stream.unwrap().hotaru_stream().device());
    stream.unwrap().hotaru_stream().record(event_);
  }
  /// Later work of the stream runs after what the event marks.
  void block(const CUDAStream& stream) const {
    stream.unwrap().hotaru_stream().wait(event_);
  }
  void synchronize() const { event_.synchronize(); }
  /// Milliseconds; throws unless both keep times and were recorded.
  float elapsed_time(const CUDAEvent& end) const {
    return float(event_.elapsed_time(end.event_));
  }
  const hotaru::Event& hotaru_event() const { return event_; }

 private:
  unsigned flags_;
  hotaru::Event event_;
};

}  // namespace at::cuda
