#include "hotaru/runtime/streams/stream.h"

#include <algorithm>
#include <array>
#include <vector>

#include "hotaru/core/printing/concat.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/queue.h"

namespace hotaru {

namespace detail {
constinit std::atomic<int64_t> watchers{0};
constinit DefaultStream cpu_stream;
constinit std::atomic<bool> streams_chosen{false};
}  // namespace detail

namespace {

// The CPU's stream, then those of the other types by device.
constexpr size_t kSlots = 1 + (kDeviceTypes - 1) * kMostDevices;

size_t slot_of(Device device) {
  if (device.is_cpu()) [[likely]]
    return 0;
  return size_t(device.type) * kMostDevices - kMostDevices + 1 +
         size_t(std::max<int>(device.index, 0));
}

const Stream& default_stream(Device device) {
  if (device.is_cpu()) return detail::cpu_stream.stream;
  return DeviceTable::instance()
      .backend(device.type)
      .default_stream(std::max<int>(device.index, 0));
}

// Null stands for the default stream. Not owned: by a guard, or below.
constinit thread_local std::array<const Stream*, kSlots> current{};

const Stream*& slot(Device device) {
  return current[slot_of(device)];
}

/// Before a stream is put into a slot.
void note_chosen(const Stream& stream) {
  if (stream.device().is_cpu() && !stream.immediate())
    detail::streams_chosen.store(true, std::memory_order_relaxed);
}

/// Sink of copies of a queued stream; tells the queue when the last goes.
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

void check_same_device(const KernelCall& call) {
  const Tensor* first = nullptr;
  const auto differ = [&](const Tensor& t) {
    return t.device().type != first->device().type ||
           t.device().index != first->device().index;
  };
  for (const Operand& operand : call.operands()) {
    if (!operand.tensor || !operand.tensor->defined()) continue;
    const Tensor& t = *operand.tensor;
    if (!first)
      first = &t;
    else if (differ(t) &&
             (!t.device().is_cpu() || t.dim() > 0 || operand.writes()))
      refuse_devices(first->device(), t.device(),
                     concat(" (in ", call.kernel().name(), ")"));
  }
}

void Stream::synchronize() const {
  if (sink_) sink_->synchronize();
}

void Stream::record(Event& event) const {
  if (sink_) return sink_->record(event);
  auto mark = make_ref<CpuMark>();
  mark->time = CpuMark::Clock::now().time_since_epoch().count();
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

const Stream& detail::chosen_stream(Device device) {
  const Stream* stream = slot(device);
  return stream ? *stream : default_stream(device);
}

bool diverts_here() {
  return std::any_of(current.begin(), current.end(), [](const Stream* stream) {
    return stream && stream->diverted();
  });
}

void set_current_stream(const Stream& stream) {
  thread_local std::array<Ref<RefCounted>, kSlots> keep;
  struct Held : RefCounted {
    explicit Held(const Stream& stream) : stream(stream) {}
    const Stream stream;
  };
  note_chosen(stream);
  const size_t where = slot_of(stream.device());
  auto held = make_ref<Held>(stream);
  current[where] = stream.immediate() ? nullptr : &held->stream;
  keep[where] = std::move(held);
}

StreamGuard::StreamGuard(const Stream& stream)
    : stream_(stream), previous_(slot(stream.device())) {
  note_chosen(stream_);
  slot(stream.device()) = &stream_;
}

StreamGuard::~StreamGuard() {
  slot(stream_.device()) = previous_;
}

CurrentStreams::CurrentStreams() : cpu_(current_stream({})) {
  if (detail::watchers.load(std::memory_order_relaxed) < detail::kOneDevice)
    return;
  for (size_t i = 1; i < kSlots; ++i)
    if (current[i]) others_.push_back(*current[i]);
}

CurrentStreamsGuard::CurrentStreamsGuard(const CurrentStreams& streams)
    : cpu_(streams.cpu_) {
  for (const Stream& stream : streams.others_) others_.emplace_back(stream);
}

}  // namespace hotaru
