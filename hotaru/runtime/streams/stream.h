// The single door to a device. Every kernel on every device is enqueued on a
// stream; whether it runs now, later or is only recorded is the stream's
// business and nobody else's.
#pragma once

#include <atomic>
#include <list>
#include <vector>

#include "hotaru/runtime/kernel.h"

namespace hotaru {

class Event;

/// Takes calls in a stream's stead: a queue that runs them later, or a
/// capture that records them. An implementation must make an OwnedCall of
/// what it keeps. Thread-safe, unless it says otherwise.
class CallSink : public RefCounted {
 public:
  virtual void take(const KernelCall& call) = 0;
  /// Puts a mark behind the calls so far; see Event.
  virtual void record(Event& event) = 0;
  /// Later calls run after what the event marks.
  virtual void wait(const Event& event) = 0;
  /// Returns when all calls so far have run; throws the first error since the
  /// last synchronisation.
  virtual void synchronize() = 0;
  /// True if all calls so far have run.
  virtual bool query() const = 0;
  /// Tells whether a tensor of that size that is made for a call here gets its
  /// memory when the call runs, as late as an immediate stream would give it.
  virtual bool defers(size_t nbytes) const = 0;
  /// A stream that waits for an event of this sink follows it; for captures,
  /// which then record that stream, too.
  virtual void follow(CallSink& stream) { (void)stream; }
  /// From now on hands all of the above to another sink, until null. Not while
  /// other threads use the stream.
  virtual void divert(Ref<CallSink>) = 0;
  /// Whose calls it takes.
  virtual Device device() const { return {}; }
  /// The sink it diverts to, or null.
  virtual CallSink* diverted() const { return nullptr; }
  /// Tells sinks apart; not 0.
  virtual int64_t id() const { return reinterpret_cast<intptr_t>(this); }
};

/// An ordered sequence of kernel calls on one device; a value. Thread-safe.
class Stream {
 public:
  /// The CPU's immediate stream.
  constexpr explicit Stream(Device device) : device_(device) {}
  /// One whose calls go to `sink`.
  Stream(Device device, Ref<CallSink> sink)
      : device_(device), sink_(std::move(sink)) {}
  /// A stream of its own on the CPU: a queue that workers of the pool run in
  /// order, beside other streams. Costs some 200 bytes and no thread.
  static Stream queued();

  Device device() const { return device_; }
  /// True if a call has run when enqueue returns; never of other devices.
  bool immediate() const { return !sink_; }
  /// Equal for equal streams of a device; 0 for its default stream.
  int64_t id() const { return sink_ ? sink_->id() : 0; }

  /// Immediate: runs the kernel in this thread, without allocation or lock;
  /// its errors are thrown here. Otherwise hands the call to the sink.
  void enqueue(const KernelCall& call) const;

  /// Each returns at once on an immediate stream, but for wait, which then
  /// waits in the calling thread.
  void synchronize() const;
  bool query() const { return !sink_ || sink_->query(); }
  /// Sink that takes the calls; null for the immediate stream.
  CallSink* sink() const { return sink_.get(); }
  /// Takes calls in the sink's place, for instance a capture, or null.
  CallSink* diverted() const { return sink_ ? sink_->diverted() : nullptr; }
  /// See CallSink.
  bool defers(size_t nbytes) const { return sink_ && sink_->defers(nbytes); }
  void record(Event& event) const;
  void wait(const Event& event) const;
  /// Later calls here run after the other stream's calls so far.
  void wait(const Stream& other) const;

  bool operator==(const Stream&) const = default;

 private:
  Device device_;
  Ref<CallSink> sink_;
};

/// Waits for every queued stream of the process; throws the first error that
/// none of them has reported.
void synchronize_all();

/// Throws PyTorch's "Expected all tensors to be on the same device ..." unless
/// the call's tensors are. A CPU tensor without dimensions may stand beside
/// those of another device that it does not write: its value travels in the
/// call.
void check_same_device(const KernelCall& call);

/// True if calls of one of this thread's current streams go elsewhere: to a
/// capture.
bool diverts_here();

namespace detail {
/// Queued streams alive, captures and profilers running, and kOneWatch for each
/// Watch, kOneDevice for each device type beside the CPU. With none of them an
/// immediate call has nothing to wait for, nobody to tell and no wrong memory.
extern constinit std::atomic<int64_t> watchers;
inline constexpr int64_t kOneWatch = int64_t{1} << 32;
inline constexpr int64_t kOneDevice = int64_t{1} << 56;
inline bool streams_queue(int64_t watching) {
  return watching % kOneWatch != 0;
}
inline bool objects_watched(int64_t watching) {
  return watching % kOneDevice >= kOneWatch;
}
/// Waits for what queued streams still do with the operands; throws the error
/// of a call that should have made one of them. Then runs the call.
void run_watched(const KernelCall& call);
}  // namespace detail

inline void Stream::enqueue(const KernelCall& call) const {
  if (sink_) [[unlikely]]
    return sink_->take(call);
  if (detail::watchers.load(std::memory_order_relaxed)) [[unlikely]]
    return detail::run_watched(call);
  call.run(DeviceType::kCPU);
}

namespace detail {
/// The CPU's default stream, which is never destroyed.
struct DefaultStream {
  union {
    Stream stream;
  };
  constexpr DefaultStream() : stream(Device{}) {}
  ~DefaultStream() {}
};
extern constinit DefaultStream cpu_stream;
/// Set if a thread ever chose another one on the CPU.
extern constinit std::atomic<bool> streams_chosen;
const Stream& chosen_stream(Device device);
}  // namespace detail

/// The stream this thread's operators go to on a device; its default stream
/// unless a StreamGuard says otherwise. An index of -1 counts as 0.
inline const Stream& current_stream(Device device) {
  if (device.is_cpu() &&
      !detail::streams_chosen.load(std::memory_order_relaxed)) [[likely]]
    return detail::cpu_stream.stream;
  return detail::chosen_stream(device);
}
inline constexpr int kMostDevices = 32;  // of one type

/// Makes a stream current in this thread until the next call.
void set_current_stream(const Stream& stream);

/// Makes a stream current in this thread for a scope.
class StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  const Stream stream_;
  const Stream* previous_;
};

/// The streams that are current in a thread, for another one to go on with.
class CurrentStreams {
 public:
  CurrentStreams();

 private:
  friend class CurrentStreamsGuard;
  Stream cpu_;
  std::vector<Stream> others_;
};

/// Makes them current in this thread for a scope.
class CurrentStreamsGuard {
 public:
  explicit CurrentStreamsGuard(const CurrentStreams& streams);

 private:
  StreamGuard cpu_;
  std::list<StreamGuard> others_;
};

}  // namespace hotaru
