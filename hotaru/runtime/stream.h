// The single door to a device. Every kernel on every device is enqueued on a
// stream; whether it runs now, later or is only recorded is the stream's
// business and nobody else's.
#pragma once

#include "hotaru/runtime/kernel.h"

namespace hotaru {

/// Takes calls in a stream's stead: a queue that runs them later, or a
/// capture that records them. An implementation must make an OwnedCall of
/// what it keeps.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual void take(const KernelCall& call) = 0;
};

/// An ordered sequence of kernel calls on one device; a value.
class Stream {
 public:
  /// The device's immediate stream, or one whose calls go to `sink`, which
  /// outlives it.
  explicit Stream(Device device, CallSink* sink = nullptr)
      : device_(device), sink_(sink) {}

  Device device() const { return device_; }
  /// Whether a call has run when enqueue returns.
  bool immediate() const { return sink_ == nullptr; }

  /// Immediate: runs the kernel in this thread, without allocation or lock;
  /// its errors are thrown here. Otherwise hands the call to the sink.
  void enqueue(const KernelCall& call) const {
    if (sink_) [[unlikely]]
      sink_->take(call);
    else
      call.run(device_.type);
  }
  bool operator==(const Stream&) const = default;

 private:
  Device device_;
  CallSink* sink_;
};

/// The stream this thread's operators go to on a device type; the immediate
/// stream unless a StreamGuard says otherwise.
const Stream& current_stream(DeviceType type);

/// Makes a stream current in this thread for a scope.
class StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Stream previous_;
};

/// Enqueues on the current stream of the first operand's device.
inline void enqueue(const Kernel& kernel,
                    std::initializer_list<Operand> operands) {
  current_stream(operands.begin()->tensor->device().type)
      .enqueue({kernel, {operands.begin(), operands.size()}});
}
template <class A>
void enqueue(const Kernel& kernel, std::initializer_list<Operand> operands,
             const A& attributes) {
  current_stream(operands.begin()->tensor->device().type)
      .enqueue({kernel, {operands.begin(), operands.size()}, attributes});
}
/// The same for a number of operands known only at run time.
template <class A>
void enqueue_list(const Kernel& kernel, std::span<const Operand> operands,
                  const A& attributes) {
  current_stream(operands.front().tensor->device().type)
      .enqueue({kernel, operands, attributes});
}

}  // namespace hotaru
