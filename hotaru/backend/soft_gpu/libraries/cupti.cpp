// A stand-in for CUPTI's activities, with the rules of its guide: callbacks
// are there before anything is enabled, buffers lie where records may, what was
// pushed is popped, and numbers come with the records of calls to the driver.
// A thread of its own writes records and hands buffers out.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "hotaru/backend/cuda/cupti/cupti_entries.h"
#include "hotaru/backend/soft_gpu/activity.h"

#define HOTARU_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) int symbol params;
extern "C" {
HOTARU_CUPTI_ENTRIES(HOTARU_DECLARE)
#define HOTARU_FOR_TESTS __attribute__((visibility("default")))
/// How often a rule was broken, and how many numbers are pushed and not popped.
HOTARU_FOR_TESTS int hotaru_softgpu_cupti_faults();
HOTARU_FOR_TESTS int hotaru_softgpu_cupti_pushed();
/// From now on: what cuptiGetVersion says; which kind can't be enabled.
HOTARU_FOR_TESTS void hotaru_softgpu_cupti_is(unsigned version);
HOTARU_FOR_TESTS void hotaru_softgpu_cupti_refuse(int kind);
/// Gives a buffer with a record to whoever has registered, as if they had asked
/// for it.
HOTARU_FOR_TESTS void hotaru_softgpu_cupti_stray();
}
#undef HOTARU_DECLARE

using namespace hotaru::cuda;
using namespace hotaru::cuda::cupti;
using namespace hotaru::soft_gpu;

namespace {

constexpr int kInsufficientPrivileges = 35;
constexpr size_t kLeastBuffer = 4096;
constexpr size_t kMostKinds = 64;

std::atomic<int> faults{0}, pushed{0}, refused{-1};
std::atomic<unsigned> the_version{130500};

int fault(int status) {
  ++faults;
  return status;
}

/// Bytes of CUPTI 13.5's records, of which hotaru reads the beginnings.
size_t size_of(int kind) {
  switch (kind) {
    case kKernel:
      return 216;
    case kCopy:
    case kPeerCopy:
      return 96;
    case kFill:
      return 88;
    case kExternal:
      return 24;
    case kDriver:
      return 40;
    default:
      return 0;
  }
}

/// A record as it lies in a buffer. What we do not set is anything.
using Bytes = std::vector<uint8_t>;

template <class R>
Bytes bytes_of(const R& record) {
  Bytes bytes(size_of(record.kind), 0xA5);
  std::memcpy(bytes.data(), &record, sizeof record);
  return bytes;
}

uint8_t place_number(Place place) {
  return place == Place::kPageable ? 1 : place == Place::kPinned ? 2 : 3;
}

uint8_t way_number(const Activity& a) {
  if (a.kind == Activity::kPeerCopy) return 10;
  const bool to = a.to == Place::kDevice, from = a.from == Place::kDevice;
  return to && from ? 8 : to ? 1 : from ? 2 : 9;
}

int kind_of(Activity::Kind kind) {
  constexpr int kKinds[] = {kKernel, kCopy, kPeerCopy, kFill};
  return kKinds[kind];
}

template <class R>
Bytes placed(R record, const Activity& a, uint64_t start, uint64_t end) {
  record.kind = kind_of(a.kind);
  record.device = uint32_t(a.device);
  record.stream = a.stream;
  record.correlation = a.correlation;
  record.start = start;
  record.end = end;
  return bytes_of(record);
}

template <class R>
Bytes copied(const Activity& a, uint64_t start, uint64_t end) {
  R r{};
  r.way = way_number(a);
  r.from = place_number(a.from);
  r.to = place_number(a.to);
  r.bytes = a.bytes;
  return placed(r, a, start, end);
}

Bytes record_of(const Activity& a, uint64_t start, uint64_t end) {
  if (a.kind == Activity::kCopy) return copied<CopyRecord>(a, start, end);
  if (a.kind == Activity::kPeerCopy)
    return copied<PeerCopyRecord>(a, start, end);
  if (a.kind == Activity::kFill) {
    FillRecord r{};
    r.bytes = a.bytes;
    r.memory = place_number(a.to);
    return placed(r, a, start, end);
  }
  KernelRecord r{};
  r.name = a.name;
  r.registers = 32;
  r.dynamic_shared = int32_t(a.shared_bytes);
  const unsigned grid[] = {a.grid.x, a.grid.y, a.grid.z};
  const unsigned block[] = {a.block.x, a.block.y, a.block.z};
  for (int i = 0; i < 3; ++i) {
    r.grid[i] = int32_t(grid[i]);
    r.block[i] = int32_t(block[i]);
  }
  return placed(r, a, start, end);
}

thread_local std::map<int, std::vector<uint64_t>> numbers;

class Tracer final : public ActivityListener {
 public:
  int register_buffers(RequestBuffer request, CompleteBuffer complete) {
    const std::lock_guard lock(mutex_);
    if (!request || !complete) return fault(kInvalidParameter);
    request_ = request;
    complete_ = complete;
    return kSuccess;
  }
  int register_clock(Timestamp clock) {
    const std::lock_guard lock(mutex_);
    if (!clock) return fault(kInvalidParameter);
    const int64_t before = Clock::now().time_since_epoch().count();
    const auto told = int64_t(clock());
    const int64_t after = Clock::now().time_since_epoch().count();
    offset_ = told >= before && told <= after ? 0 : told - after;
    has_clock_ = true;
    return kSuccess;
  }
  int enable(int kind, bool wanted) {
    const std::lock_guard lock(mutex_);
    if (kind != kRuntime && size_of(kind) == 0) return fault(kInvalidKind);
    if (wanted && kind == refused) return kInsufficientPrivileges;
    if (!request_ || !has_clock_) return fault(kNotCompatible);
    if (enabled_[size_t(kind)] == wanted) ++faults;
    enabled_[size_t(kind)] = wanted;
    if (!std::exchange(started_, true)) {
      std::thread([this] { work(); }).detach();
      activity_listener = this;
    }
    return kSuccess;
  }
  int flush(uint32_t flag) {
    std::unique_lock lock(mutex_);
    if (!request_) return fault(kInvalidOperation);
    if (!started_) return kSuccess;
    if (flag == kForced)
      for (const auto& activity : std::exchange(pending_, {}))
        records_.push_back(record_of(*activity, 0, 0));
    const uint64_t turn = ++flushes_;
    work_.notify_one();
    idle_.wait(lock, [&] { return flushed_ >= turn; });
    return kSuccess;
  }
  void stray() const {
    KernelRecord record{};
    record.kind = kKernel;
    static const Bytes buffer = bytes_of(record);
    auto* const data = const_cast<uint8_t*>(buffer.data());
    if (complete_) complete_(nullptr, 0, data, buffer.size(), buffer.size());
  }
  size_t take_dropped() {
    const std::lock_guard lock(mutex_);
    return std::exchange(dropped_, 0);
  }

  std::shared_ptr<Activity> launch(const Activity& does) override {
    const std::lock_guard lock(mutex_);
    const uint32_t correlation = ++correlations_;
    if (enabled_[kDriver]) {
      if (enabled_[kExternal])
        for (const auto& [counter, stack] : numbers)
          if (!stack.empty())
            records_.push_back(bytes_of(
                ExternalRecord{kExternal, counter, stack.back(), correlation}));
      records_.push_back(bytes_of(Record{kDriver}));
      work_.notify_one();
    }
    if (!enabled_[size_t(kind_of(does.kind))]) return nullptr;
    auto activity = std::make_shared<Activity>(does);
    activity->correlation = correlation;
    pending_.insert(activity);
    return activity;
  }
  void end(const Activity& activity, Clock::time_point begin,
           Clock::time_point end) override {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(
        pending_.begin(), pending_.end(),
        [&](const auto& other) { return other.get() == &activity; });
    if (at == pending_.end()) return;  // given away by a flush
    pending_.erase(at);
    records_.push_back(record_of(activity, time_of(begin), time_of(end)));
    work_.notify_one();
  }

 private:
  uint64_t time_of(Clock::time_point time) const {
    return uint64_t(time.time_since_epoch().count() + offset_);
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock,
                 [&] { return !records_.empty() || flushed_ < flushes_; });
      const uint64_t turn = flushes_;
      const std::deque<Bytes> records = std::exchange(records_, {});
      lock.unlock();
      size_t dropped = 0;
      for (const Bytes& record : records) dropped += !write(record);
      if (turn > flushed_) give_back();
      lock.lock();
      dropped_ += dropped;
      flushed_ = turn;
      idle_.notify_all();
    }
  }
  bool write(const Bytes& record) {
    if (buffer_ &&
        (used_ + record.size() > size_ || (most_ && count_ == most_)))
      give_back();
    if (!buffer_) {
      request_(&buffer_, &size_, &most_);
      used_ = count_ = 0;
      if (buffer_ && (reinterpret_cast<uintptr_t>(buffer_) % kAlignment ||
                      size_ < kLeastBuffer)) {
        ++faults;
        buffer_ = nullptr;
      }
    }
    if (!buffer_) return false;
    std::memcpy(buffer_ + used_, record.data(), record.size());
    used_ += record.size();
    ++count_;
    return true;
  }
  void give_back() {
    if (!buffer_) return;
    complete_(nullptr, 0, std::exchange(buffer_, nullptr), size_, used_);
  }

  std::mutex mutex_;  // over all but what the thread alone uses
  std::condition_variable work_, idle_;
  RequestBuffer request_ = nullptr;
  CompleteBuffer complete_ = nullptr;
  bool has_clock_ = false, started_ = false;
  int64_t offset_ = 0;
  std::array<bool, kMostKinds> enabled_{};
  uint32_t correlations_ = 0;
  std::set<std::shared_ptr<Activity>> pending_;
  std::deque<Bytes> records_;
  size_t dropped_ = 0;
  uint64_t flushes_ = 0, flushed_ = 0;
  // The thread's.
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0, used_ = 0, most_ = 0, count_ = 0;
};

Tracer& tracer() {
  static auto* const once = new Tracer;  // its thread may outlive statics
  return *once;
}

}  // namespace

int hotaru_softgpu_cupti_faults() {
  return faults;
}
int hotaru_softgpu_cupti_pushed() {
  return pushed;
}
void hotaru_softgpu_cupti_is(unsigned version) {
  the_version = version;
}
void hotaru_softgpu_cupti_refuse(int kind) {
  refused = kind;
}
void hotaru_softgpu_cupti_stray() {
  tracer().stray();
}

int cuptiGetVersion(uint32_t* version) {
  if (!version) return fault(kInvalidParameter);
  *version = the_version;
  return kSuccess;
}
int cuptiGetResultString(int status, const char** text) {
  if (!text) return fault(kInvalidParameter);
  *text = status == kInsufficientPrivileges
              ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
              : "CUPTI_ERROR";
  return kSuccess;
}
int cuptiActivityRegisterCallbacks(RequestBuffer request,
                                   CompleteBuffer complete) {
  return tracer().register_buffers(request, complete);
}
int cuptiActivityRegisterTimestampCallback(Timestamp clock) {
  return tracer().register_clock(clock);
}
int cuptiActivityEnable(int kind) {
  return tracer().enable(kind, true);
}
int cuptiActivityDisable(int kind) {
  return tracer().enable(kind, false);
}
int cuptiActivityFlushAll(uint32_t flag) {
  return flag > kForced ? fault(kInvalidParameter) : tracer().flush(flag);
}
int cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (!dropped) return fault(kInvalidParameter);
  *dropped = tracer().take_dropped();
  return kSuccess;
}
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t used, Record** record) {
  if (!buffer || !record) return fault(kInvalidParameter);
  auto* at = reinterpret_cast<uint8_t*>(*record);
  at = at ? at + size_of((*record)->kind) : buffer;
  if (at >= buffer + used) return kNoMore;
  *record = reinterpret_cast<Record*>(at);
  return size_of((*record)->kind) == 0 ? fault(kInvalidKind) : kSuccess;
}
int cuptiActivityPushExternalCorrelationId(int counter, uint64_t number) {
  if (counter < 1 || counter > 5) return fault(kInvalidParameter);
  numbers[counter].push_back(number);
  ++pushed;
  return kSuccess;
}
int cuptiActivityPopExternalCorrelationId(int counter, uint64_t* last) {
  if (counter < 1 || counter > 5) return fault(kInvalidParameter);
  std::vector<uint64_t>& stack = numbers[counter];
  if (stack.empty()) return fault(kQueueEmpty);
  if (last) *last = stack.back();
  stack.pop_back();
  --pushed;
  return kSuccess;
}
