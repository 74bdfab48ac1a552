// CUDA streams: sinks of the door that launch, and the timelines by which
// streams of all devices and queues of the CPU follow each other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "hotaru/backend/cuda/devices.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/streams/timeline.h"

namespace hotaru::cuda {

class CallRecorder;

/// A CUevent of a device; given back to the device's others when it goes.
class DeviceEvent : public RefCounted {
 public:
  DeviceEvent(int device, bool timing);
  ~DeviceEvent() override;
  int device() const { return device_; }
  CUevent handle() const { return handle_; }
  bool timing() const { return timing_; }
  bool done() const;
  void wait() const;

 private:
  int device_;
  bool timing_;
  CUevent handle_;
};

/// The order of a stream's work. Calls get numbers only while somebody else
/// may have to wait for them (see tracking()), and events are recorded only
/// when somebody does.
class StreamTimeline final : public Timeline {
 public:
  /// Whose the CUstream is when the timeline goes.
  enum class Handle : uint8_t { kBorrowed, kPooled, kOwned };

  StreamTimeline(int device, CUstream handle, Handle kind);
  ~StreamTimeline() override;

  int device() const { return device_; }
  CUstream handle() const { return handle_; }
  Handle kind() const { return kind_; }
  /// Number by which traces call it: a device's default stream "7", as NVIDIA's
  /// tools do.
  int64_t lane() const {
    return kDefaultLane + (handle_ == kLegacyStream ? 0 : int64_t(id_));
  }

  /// A stream has begun to use it: work here comes after all that other
  /// timelines were given so far, tracked or not.
  void begin();
  /// No stream uses it any more: work of others comes after what was done here.
  void retire() noexcept;

  /// Launches a call, after those of other timelines that it has to follow.
  /// `marks_host`: it goes on using host memory when this returns.
  void run(const KernelCall& call, int64_t stream_id, bool marks_host);
  /// Gives a number to what was put on the stream beside calls.
  void count_own_work();
  /// Later work here runs after a ticket of any timeline.
  void follow(const Ticket& ticket);
  /// Gives a number to what was launched so far, and an event behind it.
  Ref<DeviceEvent> record(uint64_t& number, bool timing = false);
  /// Throws what kernels found wrong, as wait_for() does.
  void synchronize();
  bool query();

  bool done(uint64_t number) override;
  /// True if the n-th entry is on the device's queue, so that nothing the host
  /// does can hold it up.
  bool launched(uint64_t number) const {
    return launched_.load(std::memory_order_acquire) >= number;
  }
  void wait_for(uint64_t number) override;
  /// wait_for() for those who may not throw what kernels found.
  void wait_until_done(uint64_t number);
  bool resume_at(uint64_t number, StreamQueue* waiter) override;
  std::exception_ptr failure() override;

  /// Where its kernels say what is wrong with elements.
  KernelErrors& errors();
  /// Whoever waits for what was launched so far hears of these, too.
  void watch(const std::shared_ptr<KernelErrors>& errors);

  /// Recorder of the run that calls become part of here; null: they are
  /// launched.
  CallRecorder* recorder() const { return recorder_; }
  /// Before calls run here, and after.
  void set_recorder(CallRecorder* recorder) { recorder_ = recorder; }

  /// Tells whether work has to be told apart: more than one timeline is in use.
  static bool tracking();

 private:
  static constexpr int64_t kDefaultLane = 7;

  struct Point {
    uint64_t number;
    Ref<DeviceEvent> event;
  };

  void launch(const KernelCall& call, int64_t stream_id);
  void run_tracked(const KernelCall& call, int64_t stream_id);
  void wait_launched(uint64_t number);
  /// An event at or behind the n-th entry, which was launched.
  Ref<DeviceEvent> event_behind(uint64_t number, uint64_t& covered);
  /// mutex_ held.
  void forget_done();
  void add_point();
  void check_errors() {
    if (KernelErrors* errors = errors_.load(std::memory_order_acquire))
      errors->check();
    if (has_others_.load(std::memory_order_acquire)) [[unlikely]]
      check_others();
  }
  void check_others();

  const uint64_t id_;
  const int device_;
  const CUstream handle_;
  const Handle kind_;
  // Held from a call's number to its launch, so that both have one order.
  std::mutex launching_;
  std::atomic<uint64_t> issued_{0}, launched_{0}, completed_{0};
  std::atomic<KernelErrors*> errors_{nullptr};
  std::atomic<bool> has_others_{false};
  CallRecorder* recorder_ = nullptr;
  std::condition_variable moved_;
  std::mutex mutex_;  // guards the rest
  std::deque<Point> points_;
  std::unordered_map<uint64_t, uint64_t> followed_;    // by id_
  std::vector<std::shared_ptr<KernelErrors>> others_;  // of graphs
};

/// While it lives, kernel functions in this thread launch on the timeline.
class LaunchScope {
 public:
  explicit LaunchScope(StreamTimeline& timeline);
  ~LaunchScope();
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

 private:
  StreamTimeline* const before_;
};

/// An event that was recorded on a CUDA stream.
struct CudaMark final : Mark {
  Ref<DeviceEvent> event;
  double milliseconds_to(const Mark& end) const override;
};

/// A stream of the device; its default one where the handle is null.
Stream make_stream(int device, int priority);
const Stream& default_stream(int device);
/// Somebody else's stream, which outlives the result.
Stream external_stream(int device, CUstream handle);
/// CUDA's handle of a stream, which must be one of a CUDA device's.
CUstream raw_stream(const Stream& stream);
/// The timeline of the thread's current stream on a device.
StreamTimeline& current_timeline(int device);
/// Waits for all streams of a device.
void synchronize_device(int device);
/// Whoever next waits for one of them is told this, each once.
void fail_streams(int device, const std::exception_ptr& error);
/// Least and greatest priority (the smaller number) of streams.
void priority_range(int& least, int& greatest);

/// Where kernel functions launch: the timeline whose call runs in this thread.
StreamTimeline& launching_timeline();
/// Tells whether a call runs in this thread.
bool amid_launch();

/// From now on the CPU's door waits for host memory that CUDA may still use.
void watch_host_memory();

}  // namespace hotaru::cuda
