#include "hotaru/runtime/streams/stream.h"

#include <array>

#include "hotaru/core/error.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/queue.h"

namespace hotaru {

namespace detail {
constinit std::atomic<int64_t> watchers{0};
}

namespace {

const Stream& immediate_stream(DeviceType type) {
  // Never destroyed: workers may enqueue while the process exits.
  static const auto& streams = *new std::array<Stream, kDeviceTypes>{
      Stream(Device{DeviceType::kCPU}), Stream(Device{DeviceType::kCUDA, 0}),
      Stream(Device{DeviceType::kMeta})};
  return streams[size_t(type)];
}

// Null stands for the immediate stream. Not owned: by a guard, or below.
constinit thread_local std::array<const Stream*, kDeviceTypes> current{};

const Stream*& slot(DeviceType type) {
  return current[size_t(type)];
}

/// What copies of a queued stream share; tells the queue when the last goes.
class QueueSink final : public CallSink {
 public:
  ~QueueSink() override { queue_->orphan(); }
  void take(const KernelCall& call) override {
    other_ ? other_->take(call) : queue_->take(call);
  }
  void record(Event& event) override {
    other_ ? other_->record(event) : queue_->record(event);
  }
  void wait(const Event& event) override {
    if (!other_ && event.mark() && event.mark()->branch)
      event.mark()->branch->follow(*this);
    other_ ? other_->wait(event) : queue_->wait(event);
  }
  void synchronize() override {
    other_ ? other_->synchronize() : queue_->synchronize();
  }
  bool query() const override {
    return other_ ? other_->query() : queue_->query();
  }
  bool defers(size_t nbytes) const override {
    return other_ ? other_->defers(nbytes) : StreamQueue::defers(nbytes);
  }
  void divert(Ref<CallSink> other) override { other_ = std::move(other); }
  CallSink* diverted() const override { return other_.get(); }
  int64_t id() const override { return queue_->id(); }

 private:
  const Ref<StreamQueue> queue_ = make_ref<StreamQueue>();
  Ref<CallSink> other_;
};

}  // namespace

Stream Stream::queued() {
  return Stream(Device{DeviceType::kCPU}, make_ref<QueueSink>());
}

void Stream::synchronize() const {
  if (sink_) sink_->synchronize();
}

void Stream::record(Event& event) const {
  if (sink_) return sink_->record(event);
  auto mark = make_ref<Mark>();
  mark->time = Mark::Clock::now().time_since_epoch().count();
  event.set_mark(std::move(mark));
}

void Stream::wait(const Event& event) const {
  if (sink_) return sink_->wait(event);
  event.synchronize();
}

void Stream::wait(const Stream& other) const {
  if (other == *this || other.immediate()) return;
  Event event;
  other.record(event);
  wait(event);
}

const Stream& current_stream(DeviceType type) {
  const Stream* stream = slot(type);
  return stream ? *stream : immediate_stream(type);
}

void set_current_stream(const Stream& stream) {
  thread_local std::array<Ref<RefCounted>, kDeviceTypes> keep;
  struct Held : RefCounted {
    explicit Held(const Stream& stream) : stream(stream) {}
    const Stream stream;
  };
  const DeviceType type = stream.device().type;
  auto held = make_ref<Held>(stream);
  slot(type) = stream.immediate() ? nullptr : &held->stream;
  keep[size_t(type)] = std::move(held);
}

StreamGuard::StreamGuard(const Stream& stream)
    : stream_(stream), previous_(slot(stream.device().type)) {
  slot(stream.device().type) = &stream_;
}

StreamGuard::~StreamGuard() {
  slot(stream_.device().type) = previous_;
}

}  // namespace hotaru
