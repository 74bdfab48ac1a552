#include "hotaru/backend/cuda/stream.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "hotaru/backend/common/create/copy.h"
#include "hotaru/backend/cuda/allocator.h"
#include "hotaru/core/error.h"
#include "hotaru/core/special_errors.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/streams/queue.h"
#include "hotaru/runtime/streams/uses.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda {
namespace {

constinit std::atomic<uint64_t> next_id{1};
constinit std::atomic<int> streams_in_use{0};
constinit thread_local StreamTimeline* launching = nullptr;

// Guards what devices keep for reuse; nothing else is locked under it.
std::mutex& reuse_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
// Guards the list of timelines in use; held while they get to know each other.
std::mutex& in_use_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
struct Reuse {
  std::vector<CUevent> events[2];  // without and with timing
  std::vector<Ref<StreamTimeline>> timelines;
};
Reuse& reuse(int device) {
  static auto* all = new std::array<Reuse, kMostDevices>;
  return (*all)[size_t(device)];
}
std::vector<StreamTimeline*>& in_use() {
  static auto* all = new std::vector<StreamTimeline*>;
  return *all;
}

template <class T>
bool take_one(std::vector<T>& from, T& out) {
  const std::lock_guard lock(reuse_mutex());
  if (from.empty()) return false;
  out = std::move(from.back());
  from.pop_back();
  return true;
}

}  // namespace

// --- events ------------------------------------------------------------------

DeviceEvent::DeviceEvent(int device, bool timing)
    : device_(device), timing_(timing) {
  if (take_one(reuse(device).events[timing], handle_)) return;
  const DeviceScope scope(device);
  HOTARU_CUDA(cuEventCreate, &handle_,
              timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
}

DeviceEvent::~DeviceEvent() {
  const std::lock_guard lock(reuse_mutex());
  reuse(device_).events[timing_].push_back(handle_);
}

bool DeviceEvent::done() const {
  const DeviceScope scope(device_);
  const CUresult result = driver().cuEventQuery(handle_);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuEventQuery");
  return true;
}

void DeviceEvent::wait() const {
  const DeviceScope scope(device_);
  HOTARU_CUDA(cuEventSynchronize, handle_);
}

double CudaMark::milliseconds_to(const Mark& end) const {
  const auto* other = dynamic_cast<const CudaMark*>(&end);
  HOTARU_CHECK(other && event && other->event &&
                   event->device() == other->event->device(),
               "elapsed_time: the two events are of different devices");
  float milliseconds = 0;
  HOTARU_CUDA(cuEventElapsedTime, &milliseconds, event->handle(),
              other->event->handle());
  return milliseconds;
}

// --- timelines ---------------------------------------------------------------

StreamTimeline::StreamTimeline(int device, CUstream handle, Handle kind)
    : id_(next_id.fetch_add(1)),
      device_(device),
      handle_(handle),
      kind_(kind) {}

StreamTimeline::~StreamTimeline() {
  if (KernelErrors* errors = errors_.load()) give_errors_back(device_, *errors);
  if (kind_ == Handle::kOwned && !forked()) driver().cuStreamDestroy(handle_);
}

void StreamTimeline::begin() {
  const std::unique_lock lock = blocking_lock(in_use_mutex());
  for (StreamTimeline* other : in_use()) {
    uint64_t number = 0;
    try {
      const Ref<DeviceEvent> event = other->record(number);
      use(device_);
      HOTARU_CUDA(cuStreamWaitEvent, handle_, event->handle(), 0);
    } catch (const AcceleratorError&) {
      // A lost device has no order to keep; the others have.
      if (other->device_ == device_) throw;
    }
  }
  in_use().push_back(this);
  streams_in_use = int(in_use().size());
}

void StreamTimeline::retire() noexcept {
  try {
    const std::unique_lock lock = blocking_lock(in_use_mutex());
    std::erase(in_use(), this);
    streams_in_use = int(in_use().size());
    if (!forked()) {
      uint64_t number = 0;
      const Ref<DeviceEvent> event = record(number);
      for (StreamTimeline* other : in_use()) {
        use(other->device_);
        driver().cuStreamWaitEvent(other->handle_, event->handle(), 0);
      }
    }
    if (kind_ != Handle::kPooled) return;
    const std::lock_guard keep(reuse_mutex());
    reuse(device_).timelines.push_back(Ref<StreamTimeline>(this));
  } catch (const Error&) {  // a lost device has no order to keep
  }
}

bool StreamTimeline::tracking() {
  return streams_in_use.load(std::memory_order_relaxed) > 1;
}

namespace {

/// Tells whether a queue of the CPU, or CUDA itself, may be amid using host
/// memory that the call is about to use.
bool meets_busy_host_memory(const KernelCall& call) {
  if (!detail::streams_queue(detail::watchers.load(std::memory_order_relaxed)))
    return false;
  for (const Operand& operand : call.operands())
    if (on_cpu(operand) && operand.tensor->storage()->uses()) return true;
  return false;
}

/// Tells whether calls are known that use it; a capture may have left uses that
/// hold none.
bool is_used(const Storage& storage) {
  if (!storage.uses()) return false;
  const std::lock_guard lock(ordering_mutex());
  return static_cast<const Uses*>(storage.uses())->used();
}

/// Whose memory a call is the first to use, of timelines that may still work on
/// what lay there before.
std::vector<Ref<StreamTimeline>> other_owners(const KernelCall& call,
                                              const StreamTimeline& mine) {
  std::vector<Ref<StreamTimeline>> out;
  for (const Operand& operand : call.operands()) {
    if (!operand.tensor || !operand.tensor->defined()) continue;
    const Tensor& t = *operand.tensor;
    if (!t.device().is_cuda() || is_used(*t.storage())) continue;
    Ref<StreamTimeline> owner =
        allocator(t.device().index).owner(t.storage()->data());
    if (owner && owner.get() != &mine) out.push_back(std::move(owner));
  }
  return out;
}

const Kernel& copy_kernel() {
  static const Kernel& copy = kernel("copy_");
  return copy;
}

/// A graph's, whose calls may copy from and to the host.
bool is_replay(const KernelCall& call) {
  static const Kernel& replay = kernel("graph_replay");
  return &call.kernel() == &replay;
}

/// Tells whether a replay copies from or to the host; numbers it reads while it
/// is launched.
bool replay_crosses(const KernelCall& call) {
  const auto operands = call.operands();
  return std::any_of(operands.begin(), operands.end(), [](const Operand& o) {
    return on_cpu(o) && (o.writes() || o.tensor->dim() > 0);
  });
}

}  // namespace

void StreamTimeline::launch(const KernelCall& call, int64_t stream_id) {
  const LaunchScope scope(*this);
  detail::run_told(call, DeviceType::kCUDA, stream_id);
}

void StreamTimeline::run(const KernelCall& call, int64_t stream_id,
                         bool marks_host) {
  use(device_);
  if (tracking() || marks_host || meets_busy_host_memory(call)) [[unlikely]]
    return run_tracked(call, stream_id);
  launch(call, stream_id);
}

void StreamTimeline::run_tracked(const KernelCall& call, int64_t stream_id) {
  // Numbers on the CPU are read while the call is launched.
  const bool crosses = &call.kernel() == &copy_kernel() ||
                       (is_replay(call) && replay_crosses(call));
  if (!crosses)
    for (const Operand& operand : call.operands())
      if (on_cpu(operand)) operand.tensor->storage()->wait();
  // Copies to and from the host may wait below, and what they wait for, or
  // others that want the lock, may hold the interpreter.
  std::optional<BlockingRegion> region;
  if (crosses) region.emplace();
  std::vector<Ticket> after;
  const std::vector<Ref<StreamTimeline>> owners = other_owners(call, *this);
  const std::unique_lock order = blocking_lock(launching_);
  struct Launched {
    ~Launched() {
      timeline.launched_.store(timeline.issued_.load());
      const std::lock_guard lock(timeline.mutex_);
      timeline.moved_.notify_all();
    }
    StreamTimeline& timeline;
  } const launched{*this};
  {
    const std::lock_guard lock(ordering_mutex());
    for (const Ref<StreamTimeline>& owner : owners)
      after.push_back({owner, owner->issued_.load()});
    const Ticket mine{Ref<Timeline>(this), issued_.fetch_add(1) + 1};
    for (const Operand& operand : call.operands())
      if (const Ordered* object = ordered_of(operand))
        if (crosses || !on_cpu(operand))
          Uses::of(*object).add(mine, operand, after);
  }
  for (const Ticket& ticket : after) follow(ticket);
  if (const std::exception_ptr error = input_error(call))
    std::rethrow_exception(error);
  use(device_);
  launch(call, stream_id);
}

void StreamTimeline::count_own_work() {
  const std::unique_lock order = blocking_lock(launching_);
  launched_.store(issued_.fetch_add(1) + 1);
  const std::lock_guard lock(mutex_);
  moved_.notify_all();
}

void StreamTimeline::follow(const Ticket& ticket) {
  if (ticket.timeline.get() == this) return;
  auto* other = dynamic_cast<StreamTimeline*>(ticket.timeline.get());
  if (!other) return ticket.timeline->wait_for(ticket.number);
  if (other->completed_.load(std::memory_order_acquire) >= ticket.number)
    return;
  {
    const std::lock_guard lock(mutex_);
    const auto it = followed_.find(other->id_);
    if (it != followed_.end() && it->second >= ticket.number) return;
  }
  uint64_t covered = 0;
  const Ref<DeviceEvent> event = other->event_behind(ticket.number, covered);
  use(device_);
  HOTARU_CUDA(cuStreamWaitEvent, handle_, event->handle(), 0);
  const std::lock_guard lock(mutex_);
  uint64_t& followed = followed_[other->id_];
  followed = std::max(followed, covered);
}

void StreamTimeline::wait_launched(uint64_t number) {
  if (launched(number)) return;
  const BlockingRegion region;
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return launched_.load() >= number; });
}

void StreamTimeline::forget_done() {
  while (!points_.empty() && points_.front().event->done()) {
    completed_.store(points_.front().number, std::memory_order_release);
    points_.pop_front();
  }
}

void StreamTimeline::add_point() {
  const uint64_t covered = launched_.load();
  const DeviceScope scope(device_);
  auto event = make_ref<DeviceEvent>(device_, false);
  HOTARU_CUDA(cuEventRecord, event->handle(), handle_);
  points_.push_back({covered, std::move(event)});
}

Ref<DeviceEvent> StreamTimeline::event_behind(uint64_t number,
                                              uint64_t& covered) {
  wait_launched(number);
  const std::lock_guard lock(mutex_);
  forget_done();
  auto behind = std::find_if(points_.begin(), points_.end(),
                             [&](auto& p) { return p.number >= number; });
  if (behind == points_.end()) {
    add_point();
    behind = std::prev(points_.end());
  }
  covered = behind->number;
  return behind->event;
}

Ref<DeviceEvent> StreamTimeline::record(uint64_t& number, bool timing) {
  const std::unique_lock order = blocking_lock(launching_);
  use(device_);
  auto event = make_ref<DeviceEvent>(device_, timing);
  number = issued_.fetch_add(1) + 1;
  launched_.store(number);
  const std::lock_guard lock(mutex_);
  forget_done();
  HOTARU_CUDA(cuEventRecord, event->handle(), handle_);
  if (!timing) points_.push_back({number, event});
  moved_.notify_all();
  return event;
}

bool StreamTimeline::done(uint64_t number) {
  if (completed_.load(std::memory_order_acquire) >= number) return true;
  if (!launched(number)) return false;
  const std::lock_guard lock(mutex_);
  try {
    forget_done();
    if (completed_.load() < number &&
        (points_.empty() || points_.back().number < number)) {
      add_point();
      forget_done();
    }
  } catch (const AcceleratorError&) {
    return false;  // a lost device: whoever waits is told
  }
  return completed_.load() >= number;
}

void StreamTimeline::wait_for(uint64_t number) {
  wait_until_done(number);
  check_errors();
}

void StreamTimeline::wait_until_done(uint64_t number) {
  if (done(number)) return;
  const BlockingRegion region;
  uint64_t covered = 0;
  const Ref<DeviceEvent> event = event_behind(number, covered);
  event->wait();
  const std::lock_guard lock(mutex_);
  forget_done();
}

bool StreamTimeline::resume_at(uint64_t number, StreamQueue* waiter) {
  try {
    if (done(number)) return false;
    wait_launched(number);
    use(device_);
    // Called even if the device is lost meanwhile, unlike a host function.
    const CUstreamCallback resume = [](CUstream, CUresult, void* queue) {
      static_cast<StreamQueue*>(queue)->resume();
    };
    return driver().cuStreamAddCallback(handle_, resume, waiter, 0) ==
           CUDA_SUCCESS;
  } catch (const Error&) {
    return false;  // a lost device, see failure()
  }
}

std::exception_ptr StreamTimeline::failure() {
  try {
    query();
    return nullptr;
  } catch (const Error&) {
    return std::current_exception();
  }
}

void StreamTimeline::synchronize() {
  const BlockingRegion region;
  use(device_);
  HOTARU_CUDA(cuStreamSynchronize, handle_);
  check_errors();
}

void StreamTimeline::watch(const std::shared_ptr<KernelErrors>& errors) {
  const std::lock_guard lock(mutex_);
  if (std::find(others_.begin(), others_.end(), errors) != others_.end())
    return;
  others_.push_back(errors);
  has_others_ = true;
}

void StreamTimeline::check_others() {
  std::vector<std::shared_ptr<KernelErrors>> others;
  {
    const std::lock_guard lock(mutex_);
    // A graph's that is gone, and all of whose launches have ended.
    const bool idle = driver().cuStreamQuery(handle_) == CUDA_SUCCESS;
    others = others_;
    if (idle)
      std::erase_if(others_, [](auto& e) { return e.use_count() == 2; });
    has_others_ = !others_.empty();
  }
  for (const auto& errors : others) errors->check();
}

KernelErrors& StreamTimeline::errors() {
  if (KernelErrors* errors = errors_.load(std::memory_order_acquire))
    return *errors;
  const std::lock_guard lock(mutex_);
  if (!errors_.load()) errors_ = &take_errors(device_);
  return *errors_.load();
}

bool StreamTimeline::query() {
  use(device_);
  const CUresult result = driver().cuStreamQuery(handle_);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuStreamQuery");
  return true;
}

// --- streams -----------------------------------------------------------------

namespace {

class StreamSink final : public CallSink {
 public:
  explicit StreamSink(Ref<StreamTimeline> timeline)
      : timeline_(std::move(timeline)) {
    timeline_->begin();
  }
  ~StreamSink() override { timeline_->retire(); }

  void take(const KernelCall& call) override {
    if (other_) [[unlikely]]
      return other_->take(call);
    bool marks_host = false;
    if (is_replay(call)) {
      marks_host = replay_crosses(call);
      if (marks_host) watch_host_memory();
    } else if (&call.kernel() != &copy_kernel()) {
      check_same_device(call);
    } else if (on_cpu(call.operands()[0]) || on_cpu(call.operands()[1])) {
      marks_host = call.attributes<CopyAttributes>().non_blocking;
      if (marks_host) watch_host_memory();
    }
    call.kernel().check(DeviceType::kCUDA, call);
    timeline_->run(call, id(), marks_host);
  }
  void record(Event& event) override {
    if (other_) return other_->record(event);
    auto mark = make_ref<CudaMark>();
    mark->event = timeline_->record(mark->number, event.enable_timing());
    mark->timeline = timeline_;
    event.set_mark(std::move(mark));
  }
  void wait(const Event& event) override {
    const Ref<Mark>& mark = event.mark();
    if (!other_ && mark && mark->branch) mark->branch->follow(*this);
    if (other_) return other_->wait(event);
    if (!mark) return;
    if (const auto* cuda = dynamic_cast<const CudaMark*>(mark.get())) {
      use(timeline_->device());
      HOTARU_CUDA(cuStreamWaitEvent, timeline_->handle(), cuda->event->handle(),
                  0);
    } else {
      mark->wait();
    }
  }
  void synchronize() override {
    other_ ? other_->synchronize() : timeline_->synchronize();
  }
  bool query() const override {
    return other_ ? other_->query() : timeline_->query();
  }
  bool defers(size_t nbytes) const override {
    return other_ && other_->defers(nbytes);
  }
  void divert(Ref<CallSink> other) override { other_ = std::move(other); }
  CallSink* diverted() const override { return other_.get(); }
  Device device() const override {
    return {DeviceType::kCUDA, int8_t(timeline_->device())};
  }
  int64_t id() const override {
    return reinterpret_cast<intptr_t>(timeline_->handle());
  }
  StreamTimeline& timeline() const { return *timeline_; }

 private:
  const Ref<StreamTimeline> timeline_;
  Ref<CallSink> other_;
};

using Handle = StreamTimeline::Handle;

Stream stream_on(Ref<StreamTimeline> timeline) {
  const Device device{DeviceType::kCUDA, int8_t(timeline->device())};
  return Stream(device, make_ref<StreamSink>(std::move(timeline)));
}

StreamTimeline& timeline_of(const Stream& stream) {
  HOTARU_CHECK(stream.device().is_cuda(), "expected a CUDA stream, got one of ",
               stream.device());
  return static_cast<StreamSink*>(stream.sink())->timeline();
}

}  // namespace

Stream make_stream(int device, int priority) {
  check_device(device);
  Ref<StreamTimeline> timeline;
  if (priority == 0 && take_one(reuse(device).timelines, timeline))
    return stream_on(std::move(timeline));
  int least = 0, greatest = 0;
  if (priority != 0) priority_range(least, greatest);
  use(device);
  CUstream handle = nullptr;
  HOTARU_CUDA(cuStreamCreateWithPriority, &handle, CU_STREAM_NON_BLOCKING,
              std::clamp(priority, greatest, least));
  return stream_on(make_ref<StreamTimeline>(
      device, handle, priority == 0 ? Handle::kPooled : Handle::kOwned));
}

const Stream& default_stream(int device) {
  static auto* made = new std::array<std::atomic<const Stream*>, kMostDevices>;
  std::atomic<const Stream*>& slot = (*made)[size_t(device)];
  if (const Stream* stream = slot.load(std::memory_order_acquire)) [[likely]]
    return *stream;
  check_device(device);
  static auto* mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  if (!slot.load())
    slot = new Stream(stream_on(
        make_ref<StreamTimeline>(device, kLegacyStream, Handle::kBorrowed)));
  return *slot.load();
}

Stream external_stream(int device, CUstream handle) {
  check_device(device);
  return handle ? stream_on(make_ref<StreamTimeline>(device, handle,
                                                     Handle::kBorrowed))
                : default_stream(device);
}

CUstream raw_stream(const Stream& stream) {
  return timeline_of(stream).handle();
}

StreamTimeline& current_timeline(int device) {
  return timeline_of(current_stream(Device{DeviceType::kCUDA, int8_t(device)}));
}

void fail_streams(int device, const std::exception_ptr& error) {
  const std::unique_lock lock = blocking_lock(in_use_mutex());
  for (StreamTimeline* timeline : in_use())
    if (timeline->device() == device) timeline->errors().fail(error);
}

void synchronize_device(int device) {
  check_device(device);
  // Captures here say that it may not.
  const Stream& mine = current_stream({DeviceType::kCUDA, int8_t(device)});
  if (CallSink* capture = mine.diverted()) capture->synchronize();
  const BlockingRegion region;
  use(device);
  HOTARU_CUDA(cuCtxSynchronize);
  check_errors(device);
}

void priority_range(int& least, int& greatest) {
  use(current_device());
  HOTARU_CUDA(cuCtxGetStreamPriorityRange, &least, &greatest);
}

LaunchScope::LaunchScope(StreamTimeline& timeline)
    : before_(std::exchange(launching, &timeline)) {}
LaunchScope::~LaunchScope() {
  launching = before_;
}

StreamTimeline& launching_timeline() {
  HOTARU_CHECK(launching, "a CUDA kernel runs outside its stream");
  return *launching;
}

bool amid_launch() {
  return launching;
}

void watch_host_memory() {
  static const bool watched = [] {
    detail::watchers.fetch_add(1);
    return true;
  }();
  (void)watched;
}

}  // namespace hotaru::cuda
