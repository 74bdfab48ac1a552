#include "hotaru/backend/cuda/call_timer.h"

#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "hotaru/backend/cuda/stream.h"
#include "hotaru/core/error.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda {
namespace {

// Spans of a stream: so many may wait for being read. Then those that are over
// are, so that a long profile needs no more events than the device is behind.
constexpr size_t kMostUnread = 1024;
// The driver tells the time between two events in float: within 4 ns of it up
// to this many milliseconds, from 2^6 to 2^7 of which floats lie 2^-17 apart.
constexpr double kFarthest = 128;
// How often a device's clock is compared with the host's: the first events of a
// stream are slow.
constexpr int kComparisons = 4;

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() /
         std::chrono::nanoseconds(1);
}

Ref<DeviceEvent> record(int device, CUstream stream) {
  auto event = make_ref<DeviceEvent>(device, true);
  HOTARU_CUDA(cuEventRecord, event->handle(), stream);
  return event;
}

/// An event that a device passed, and when that was by the host's clock.
struct Reference {
  Ref<DeviceEvent> event;
  int64_t time = 0;
};

/// Compares the clocks, on a stream of its own, so that nothing has to be over
/// first. Of what lies between the host's two looks the end is taken: nothing
/// then seems to run before it was launched.
Reference compare_clocks(int device) {
  use(device);
  CUstream stream = nullptr;
  HOTARU_CUDA(cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, 0);
  const std::shared_ptr<void> owner(
      stream, [](void* s) { driver().cuStreamDestroy(CUstream(s)); });
  Reference best;
  int64_t narrowest = INT64_MAX;
  for (int i = 0; i < kComparisons; ++i) {
    const int64_t before = now();
    Ref<DeviceEvent> event = record(device, stream);
    event->wait();
    const int64_t after = now();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {std::move(event), after};
  }
  return best;
}

/// One call between its events.
struct Span {
  Ref<CallWork> call;
  Ref<DeviceEvent> begin, end;

  DeviceWork& work() const { return call->parts.front(); }
};

// The call that is timed in this thread, on its stream.
constinit thread_local Span* timed = nullptr;
constinit thread_local CUstream timed_on = nullptr;

class Lane final : public StreamTimer {
 public:
  Lane(Ref<StreamTimeline> timeline, Reference reference)
      : timeline_(std::move(timeline)), last_(std::move(reference)) {}

  Ref<CallWork> run(const KernelCall& call) override;
  void synchronize();
  void finish() noexcept;

 private:
  /// For the last call: by its event, as the stream may be gone.
  void wait() const;
  void read(const Span& span);
  int64_t time_of(const Ref<DeviceEvent>& event);

  const Ref<StreamTimeline> timeline_;
  // Held from the first event to the second, so that no other thread's calls
  // lie between them; guards the rest.
  std::mutex mutex_;
  std::deque<Span> unread_;
  // Reference that later times are counted from.
  Reference last_;
};

Ref<CallWork> Lane::run(const KernelCall& call) {
  if (timed) {  // part of what the outer call's events tell
    call.run(DeviceType::kCUDA);
    return nullptr;
  }
  const std::unique_lock lock = blocking_lock(mutex_);
  while (unread_.size() >= kMostUnread && unread_.front().end->done()) {
    read(unread_.front());
    unread_.pop_front();
  }
  use(timeline_->device());
  Span span{make_ref<CallWork>(), {}, {}};
  DeviceWork& work = span.call->parts.emplace_back();
  work.name = call.kernel().name();
  work.device = timeline_->device();
  work.lane = timeline_->lane();
  struct Scope {
    Scope(Span& span, CUstream stream) {
      timed = &span;
      timed_on = stream;
    }
    ~Scope() { timed = nullptr; }
  };
  span.begin = record(work.device, timeline_->handle());
  {
    const Scope scope(span, timeline_->handle());
    call.run(DeviceType::kCUDA);
  }
  if (!span.end) span.end = record(work.device, timeline_->handle());
  unread_.push_back(span);
  return std::move(span.call);
}

int64_t Lane::time_of(const Ref<DeviceEvent>& event) {
  float milliseconds = 0;
  HOTARU_CUDA(cuEventElapsedTime, &milliseconds, last_.event->handle(),
              event->handle());
  const int64_t time = last_.time + int64_t(double(milliseconds) * 1e6);
  if (milliseconds > kFarthest) last_ = {event, time};
  return time;
}

void Lane::read(const Span& span) {
  DeviceWork& work = span.work();
  work.start = time_of(span.begin);
  work.duration = time_of(span.end) - work.start;
}

void Lane::wait() const {
  if (unread_.empty()) return;
  const BlockingRegion region;
  unread_.back().end->wait();
}

void Lane::synchronize() {
  const std::unique_lock lock = blocking_lock(mutex_);
  wait();
  check_errors(timeline_->device());
}

void Lane::finish() noexcept {
  const std::unique_lock lock = blocking_lock(mutex_);
  try {
    wait();
    use(timeline_->device());
    for (const Span& span : unread_) read(span);
  } catch (const Error&) {  // a lost device knows no times
  }
  unread_.clear();
}

class CallTimer final : public DeviceTimer {
 public:
  explicit CallTimer(std::string complaint)
      : complaint_(std::move(complaint)) {}
  StreamTimer& here() override;
  void synchronize() override;
  DeviceProfile finish() override;

 private:
  std::vector<Lane*> lanes();

  // Held while clocks are compared.
  std::mutex mutex_;
  std::unordered_map<const StreamTimeline*, Lane> lanes_;
  std::unordered_map<int, Reference> references_;
  const std::string complaint_;
};

StreamTimer& CallTimer::here() {
  StreamTimeline& timeline = launching_timeline();
  const std::unique_lock lock = blocking_lock(mutex_);
  const auto known = lanes_.find(&timeline);
  if (known != lanes_.end()) return known->second;
  Reference& reference = references_[timeline.device()];
  if (!reference.event) reference = compare_clocks(timeline.device());
  return lanes_
      .try_emplace(&timeline, Ref<StreamTimeline>(&timeline), reference)
      .first->second;
}

/// They stay where they are; none is made by a stream without calls.
std::vector<Lane*> CallTimer::lanes() {
  const std::unique_lock lock = blocking_lock(mutex_);
  std::vector<Lane*> found;
  for (auto& [timeline, lane] : lanes_) found.push_back(&lane);
  return found;
}

void CallTimer::synchronize() {
  std::exception_ptr error;
  for (Lane* lane : lanes()) {
    try {
      lane->synchronize();
    } catch (const Error&) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

DeviceProfile CallTimer::finish() {
  for (Lane* lane : lanes()) lane->finish();
  return {{}, 0, complaint_};
}

}  // namespace

std::shared_ptr<DeviceTimer> make_call_timer(std::string complaint) {
  return std::make_shared<CallTimer>(std::move(complaint));
}

void note_copy(const char* name, size_t bytes) {
  if (!timed) return;
  timed->work().name = name;
  timed->work().kind = WorkKind::kCopy;
  timed->work().bytes += int64_t(bytes);
}

void note_end() {
  if (timed && !timed->end) timed->end = record(timed->work().device, timed_on);
}

}  // namespace hotaru::cuda
