#include "hotaru/runtime/streams/queue.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "hotaru/core/error.h"
#include "hotaru/platform/fork.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/profiler.h"
#include "hotaru/runtime/streams/uses.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru {

namespace {

// How many entries a queue runs before others that are ready get a turn.
constexpr int kTurn = 64;

// All queues, and errors of those that went without having told them; guarded
// by a lock of its own, as a queue may go while the ordering lock is held.
constinit std::mutex registry;
constinit StreamQueue* all_queues = nullptr;
std::exception_ptr& unreported() {
  static std::exception_ptr error;
  return error;
}

}  // namespace

/// A call, or a mark to set, or only something to wait for.
struct StreamQueue::Entry : Pooled {
  std::optional<OwnedCall> call;
  Ref<CpuMark> mark;
  Ref<Mark> awaited;
  std::vector<Ticket> after;
  Ref<Timeline> met;         // what it was last suspended for
  std::exception_ptr error;  // of what it came after
  uint64_t number = 0;
  Entry* next = nullptr;

  /// True if its operands are too small to matter when they stay a while.
  bool small() const {
    size_t bytes = 0;
    for (const Operand& operand : call->call().operands())
      if (operand.tensor && operand.tensor->defined())
        bytes += operand.tensor->storage()->nbytes();
    return bytes <= kSmallBytes;
  }
};

double CpuMark::milliseconds_to(const Mark& end) const {
  const auto* other = dynamic_cast<const CpuMark*>(&end);
  HOTARU_CHECK(other, "elapsed_time: the two events are of different devices");
  const Clock::duration between(other->time - time);
  return std::chrono::duration<double, std::milli>(between).count();
}

StreamQueue::StreamQueue()
    : incoming_(idle()), scheduler_(&Scheduler::instance()) {
  const std::lock_guard lock(registry);
  static const bool registered = [] {
    platform::at_fork(&StreamQueue::before_fork, &StreamQueue::after_fork,
                      &StreamQueue::in_child);
    return true;
  }();
  (void)registered;
  next_ = all_queues;
  if (next_) next_->previous_ = this;
  all_queues = this;
  detail::watchers.fetch_add(1);
}

StreamQueue::~StreamQueue() {
  sweep();
  const std::lock_guard lock(registry);
  (previous_ ? previous_->next_ : all_queues) = next_;
  if (next_) next_->previous_ = previous_;
  if (error_ && !unreported()) unreported() = error_;
  detail::watchers.fetch_sub(1);
}

// --- in the thread that enqueues ---------------------------------------------

void StreamQueue::take(const KernelCall& call) {
  if (detail::watchers.load(std::memory_order_relaxed) >= detail::kOneDevice)
    check_same_device(call);
  call.kernel().check(DeviceType::kCPU, call);
  scheduler_->prepare_launch();  // for what follows cannot be taken back
  make_room();
  if (issued_.load(std::memory_order_relaxed) % kSweepEvery == 0) sweep();
  auto entry = std::make_unique<Entry>();
  entry->call.emplace(call);
  const std::lock_guard lock(ordering_mutex());
  entry->number = issued_.load(std::memory_order_relaxed) + 1;
  const Ticket mine{Ref<Timeline>(this), entry->number};
  for (const Operand& operand : call.operands())
    if (const Ordered* object = ordered_of(operand))
      Uses::of(*object).add(mine, operand, entry->after);
  push(entry.release());
}

void StreamQueue::record(Event& event) {
  scheduler_->prepare_launch();
  auto entry = std::make_unique<Entry>();
  entry->mark = make_ref<CpuMark>();
  entry->mark->timeline = Ref<Timeline>(this);
  const Ref<CpuMark> mark = entry->mark;
  {
    const std::lock_guard lock(ordering_mutex());
    mark->number = entry->number = issued_.load() + 1;
    push(entry.release());
  }
  event.set_mark(mark);
}

void StreamQueue::wait(const Event& event) {
  const Ref<Mark>& mark = event.mark();
  if (!mark || !mark->timeline || mark->timeline.get() == this) return;
  scheduler_->prepare_launch();
  auto entry = std::make_unique<Entry>();
  entry->awaited = mark;
  entry->after.push_back({mark->timeline, mark->number});
  const std::lock_guard lock(ordering_mutex());
  entry->number = issued_.load() + 1;
  push(entry.release());
}

void StreamQueue::make_room() {
  const uint64_t issued = issued_.load(std::memory_order_relaxed);
  if (issued - seen_.load(std::memory_order_relaxed) < kMaxPending) return;
  if (!done(issued - kMaxPending + 1)) wait_for(issued - kMaxPending / 2);
  seen_.store(completed_.load(), std::memory_order_relaxed);
}

void StreamQueue::push(Entry* entry) {
  issued_.store(entry->number, std::memory_order_relaxed);
  Entry* before = incoming_.load(std::memory_order_relaxed);
  do {
    entry->next = before == idle() ? nullptr : before;
  } while (!incoming_.compare_exchange_weak(
      before, entry, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (before != idle()) return;
  retain();  // until the queue is no task any more
  scheduler_->launch(*this);
}

void StreamQueue::synchronize() {
  wait_for(issued_.load());
  std::exception_ptr error;
  {
    const std::lock_guard lock(mutex_);
    error = std::exchange(error_, nullptr);
  }
  if (error) std::rethrow_exception(error);
}

bool StreamQueue::query() {
  return done(issued_.load());
}

void StreamQueue::wait_for(uint64_t number) {
  if (done(number)) return;
  const BlockingRegion region;
  if (!resume_at(number, nullptr)) return;
  scheduler_->wait_until([&] { return done(number); });
  sweep();
}

void synchronize_all() {
  std::vector<Ref<StreamQueue>> queues;
  std::exception_ptr first;
  {
    const std::lock_guard lock(registry);
    queues = StreamQueue::living();
    first = std::exchange(unreported(), nullptr);
  }
  for (const Ref<StreamQueue>& queue : queues) {
    try {
      queue->synchronize();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

std::vector<Ref<StreamQueue>> StreamQueue::living() {
  std::vector<Ref<StreamQueue>> queues;
  for (StreamQueue* queue = all_queues; queue; queue = queue->next_)
    if (queue->try_retain()) {
      queues.emplace_back(queue);
      queue->release();
    }
  return queues;
}

// --- on the pool -------------------------------------------------------------

void StreamQueue::run() {
  for (int turn = 0; turn < kTurn || !scheduler_->has_tasks(); ++turn) {
    Entry* entry = front();
    if (!entry) return release();
    if (suspended(*entry) || !execute(*entry)) return;
    finish(entry);
  }
  scheduler_->launch(*this);
}

StreamQueue::Entry* StreamQueue::front() {
  if (pending_) return pending_;
  scheduler_->linger([this] { return incoming_.load() != nullptr; });
  Entry* none = nullptr;
  if (incoming_.compare_exchange_strong(none, idle(),
                                        std::memory_order_acq_rel))
    return nullptr;
  Entry* newest = incoming_.exchange(nullptr, std::memory_order_acquire);
  while (newest)
    pending_ = std::exchange(newest, std::exchange(newest->next, pending_));
  return pending_;
}

bool StreamQueue::suspended(Entry& entry) {
  const auto meet = [&entry] {
    if (const Ref<Timeline> met = std::exchange(entry.met, nullptr))
      if (std::exception_ptr error = met->failure()) entry.error = error;
  };
  meet();
  while (!entry.after.empty()) {
    Ticket other = std::move(entry.after.back());
    entry.after.pop_back();
    // Once announced, another thread may go on with the entry at any time.
    entry.met = other.timeline;
    if (other.timeline->resume_at(other.number, this)) return true;
    meet();
  }
  return false;
}

bool StreamQueue::resume_at(uint64_t number, StreamQueue* waiter) {
  const std::lock_guard lock(mutex_);
  // Announced first, looked second; finish() does the reverse, so that one of
  // both sees the other.
  waiting_.fetch_add(1);
  if (!done(number)) {
    waiters_.push_back({number, waiter});
    return true;
  }
  waiting_.fetch_sub(1);
  return false;
}

void StreamQueue::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
}

/// The queue's first entry, which its kernel left unfinished. Whoever comes
/// second, the queue that ran the kernel or the thread that ended the call,
/// goes on.
class StreamQueue::Late final : public LateCall {
 public:
  Late(StreamQueue& queue, Entry& entry) : queue_(queue), entry_(entry) {}

  void end(std::exception_ptr error) override {
    error_ = std::move(error);
    if (!met_.exchange(true)) return;
    tell_profiler();
    queue_.end_late(entry_, error_);
  }
  /// True if it has ended; if not, end() goes on with the queue.
  bool ended() { return met_.exchange(true); }
  const std::exception_ptr& error() const { return error_; }
  void keep(std::unique_ptr<CallRecord> record) override {
    record_ = std::move(record);
  }
  /// Whoever goes on.
  void tell_profiler() {
    if (record_) detail::end_record(std::move(*record_));
  }

 private:
  StreamQueue& queue_;
  Entry& entry_;
  std::exception_ptr error_;
  std::unique_ptr<CallRecord> record_;
  std::atomic<bool> met_{false};
};

namespace {
/// The call that a queue runs in this thread, and who ends it, if it asked.
struct RunningCall {
  const KernelCall* call;
  StreamQueue* queue;
  void* entry;
  Ref<LateCall> late;
};
constinit thread_local RunningCall* running_call = nullptr;
}  // namespace

Ref<LateCall> end_later(const KernelCall& call) {
  RunningCall* running = running_call;
  if (!running || running->call != &call) return nullptr;
  if (!running->late)
    running->late = make_ref<StreamQueue::Late>(
        *running->queue, *static_cast<StreamQueue::Entry*>(running->entry));
  return running->late;
}

LateCall* late_of(const KernelCall& call) {
  RunningCall* running = running_call;
  return running && running->call == &call ? running->late.get() : nullptr;
}

bool StreamQueue::execute(Entry& entry) {
  if (entry.call) {
    const KernelCall& call = entry.call->call();
    std::exception_ptr error = entry.error ? entry.error : input_error(call);
    RunningCall running{&call, this, &entry, nullptr};
    RunningCall* const outer = std::exchange(running_call, &running);
    try {
      if (!error) detail::run_told(call, DeviceType::kCPU, id());
    } catch (...) {
      error = with_call("a queued call", call);
      running.late = nullptr;
    }
    running_call = outer;
    if (running.late) {
      auto& late = static_cast<Late&>(*running.late);
      if (!late.ended()) return false;
      late.tell_profiler();
      error = late.error();
    }
    conclude(entry, std::move(error));
  } else if (entry.mark) {
    entry.mark->time = CpuMark::Clock::now().time_since_epoch().count();
    const std::lock_guard lock(mutex_);
    entry.mark->met = error_;
  } else if (std::exception_ptr error = entry.awaited->error()) {
    fail(std::move(error));
  }
  return true;
}

void StreamQueue::conclude(Entry& entry, std::exception_ptr error) {
  set_output_error(entry.call->call(), error);
  if (error) fail(std::move(error));
}

void StreamQueue::end_late(Entry& entry, std::exception_ptr error) {
  detail::tell_written(entry.call->call());
  conclude(entry, std::move(error));
  finish(&entry);
  // For others it was a task all the time.
  Entry* none = nullptr;
  if (!pending_ && incoming_.compare_exchange_strong(none, idle(),
                                                     std::memory_order_acq_rel))
    return release();
  scheduler_->launch(*this);
}

void StreamQueue::finish(Entry* entry) {
  const uint64_t number = entry->number;
  pending_ = entry->next;
  // All but small buffers go before anybody is told that the call has run.
  retire(entry);
  completed_.store(number, std::memory_order_seq_cst);
  if (waiting_.load(std::memory_order_seq_cst) == 0) return;
  std::vector<Waiter> ready;
  {
    const std::lock_guard lock(mutex_);
    const auto waits = [&](const Waiter& w) { return w.number > number; };
    const auto end = std::partition(waiters_.begin(), waiters_.end(), waits);
    ready.assign(end, waiters_.end());
    waiters_.erase(end, waiters_.end());
    waiting_.fetch_sub(int(ready.size()));
  }
  bool host = false;
  for (const Waiter& waiter : ready)
    if (waiter.queue)
      waiter.queue->resume();
    else
      host = true;
  if (host) scheduler_->notify();
}

void StreamQueue::retire(Entry* entry) {
  if (!entry->call || orphaned_.load(std::memory_order_relaxed) ||
      retired_count_.load(std::memory_order_relaxed) >= kMaxRetired) {
    delete entry;
    return;
  }
  if (!entry->small()) entry->call->clear();
  retired_count_.fetch_add(1, std::memory_order_relaxed);
  entry->next = retired_.load(std::memory_order_relaxed);
  while (!retired_.compare_exchange_weak(entry->next, entry,
                                         std::memory_order_seq_cst,
                                         std::memory_order_relaxed)) {
  }
  // The last stream went meanwhile, perhaps before it saw this entry.
  if (orphaned_.load(std::memory_order_seq_cst)) sweep();
}

void StreamQueue::orphan() {
  orphaned_.store(true, std::memory_order_seq_cst);
  sweep();
}

void StreamQueue::sweep() {
  Entry* entry = retired_.exchange(nullptr, std::memory_order_seq_cst);
  // The worker had all of it last: what one entry leads to is on its way while
  // others are looked at.
  for (Entry* e = entry; e; e = e->next) e->call->claim_block();
  for (Entry* e = entry; e; e = e->next) e->call->claim_operands();
  int count = 0;
  for (; entry; ++count) delete std::exchange(entry, entry->next);
  retired_count_.fetch_sub(count, std::memory_order_relaxed);
}

// --- fork --------------------------------------------------------------------

void StreamQueue::before_fork() {
  ordering_mutex().lock();
  registry.lock();
  for (StreamQueue* queue = all_queues; queue; queue = queue->next_)
    queue->mutex_.lock();
}

void StreamQueue::after_fork() {
  for (StreamQueue* queue = all_queues; queue; queue = queue->next_)
    queue->mutex_.unlock();
  registry.unlock();
  ordering_mutex().unlock();
}

void StreamQueue::in_child() {
  Scheduler& fresh = Scheduler::instance();
  for (StreamQueue* queue = all_queues; queue; queue = queue->next_) {
    queue->scheduler_ = &fresh;
    // A queue that has run all of it may still be a task, which lingers.
    if (queue->completed_ < queue->issued_)
      queue->error_ = std::make_exception_ptr(
          Error("work that was queued on a stream when the process forked is "
                "lost in the child; synchronize before forking"));
    // Left as they are: a worker of the parent was amid the first.
    queue->incoming_ = idle();
    queue->pending_ = nullptr;
    queue->waiters_.clear();
    queue->waiting_ = 0;
    queue->completed_ = queue->issued_.load();
  }
  after_fork();
}

}  // namespace hotaru
