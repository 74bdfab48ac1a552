#include "hotaru/backend/cuda/cupti/cupti.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "hotaru/backend/cuda/cupti/cupti_buffers.h"
#include "hotaru/backend/cuda/cupti/cupti_records.h"
#include "hotaru/backend/cuda/devices.h"
#include "hotaru/backend/cuda/libraries/library.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda {

struct Cupti {
  static constexpr const char* kName = "CUPTI";
  // One that is newer than the driver would not serve.
  OpenedLibrary library =
      driver_version() >= 13000
          ? open_library({"libcupti.so.13", "libcupti.so.12"})
          : open_library({"libcupti.so.12", "libcupti.so.13"});
#define HOTARU_MEMBER(name, symbol, params) int(*name) params = nullptr;
  HOTARU_CUPTI_ENTRIES(HOTARU_MEMBER)
#undef HOTARU_MEMBER
  uint32_t number = 0;

  Cupti() {
#define HOTARU_FIND(name, symbol, params) library.find(name, #symbol);
    HOTARU_CUPTI_ENTRIES(HOTARU_FIND)
#undef HOTARU_FIND
    if (!library.why_not.empty()) return;
    const int status = version(&number);
    if (status != cupti::kSuccess)
      library.why_not = complaint_of("cuptiGetVersion", status);
    else if (!known())
      library.why_not = concat(
          library.path, ": hotaru knows the records of CUPTI's versions ",
          cupti::kFirst, " to ", cupti::kLast12, " and ", cupti::kFirst13,
          " to ", cupti::kLast13, ", not of ", number);
  }
  /// True if its records are as we have declared them.
  bool known() const {
    return (number >= cupti::kFirst && number <= cupti::kLast12) ||
           (number >= cupti::kFirst13 && number <= cupti::kLast13);
  }
  std::string version_text() const {
    return number < cupti::kFirst13
               ? concat("12 (", number, ")")
               : concat(number / 10000, ".", number / 100 % 100);
  }
  std::string complaint_of(const char* call, int status) const {
    const char* text = nullptr;
    if (text_of(status, &text) != cupti::kSuccess || !text) text = "failed";
    return concat(call, ": ", text, " (status ", status, ")");
  }
};

namespace {

// Numbers come with the records of the calls to the driver and the runtime that
// launch, so those are wanted, too.
constexpr int kKinds[] = {cupti::kKernel, cupti::kCopy,     cupti::kPeerCopy,
                          cupti::kFill,   cupti::kExternal, cupti::kDriver,
                          cupti::kRuntime};

constinit std::atomic<bool> busy{false};

bool wanted() {
  const char* const choice = std::getenv("HOTARU_CUPTI");
  return !choice || std::string_view(choice) != "0";
}

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() /
         std::chrono::nanoseconds(1);
}

/// The profiler's clock. CUPTI asks it while it converts a device's times, so
/// that they follow it however long a profile is; comparing its own clock with
/// ours at the end would not, as that one may be set meanwhile.
uint64_t clock() {
  return uint64_t(now());
}

template <class F>
void for_records(const Cupti& library,
                 const std::vector<ActivityBuffer>& buffers, const F& f) {
  for (const ActivityBuffer& buffer : buffers) {
    cupti::Record* record = nullptr;
    while (library.next(buffer.data.get(), buffer.used, &record) ==
           cupti::kSuccess)
      f(*record);
  }
}

}  // namespace

ActivitySession::ActivitySession(const Cupti& library) : library_(library) {}

std::unique_ptr<ActivitySession> ActivitySession::begin(
    std::string& complaint) {
  if (!wanted()) return nullptr;
  const Cupti& library = opened<Cupti>();
  if (!library.library.why_not.empty()) return nullptr;
  if (busy.exchange(true)) {
    complaint = "it serves a profile that has not ended yet";
    return nullptr;
  }
  std::unique_ptr<ActivitySession> session(new ActivitySession(library));
  complaint = session->enable();
  if (!complaint.empty()) return nullptr;
  return session;
}

std::string ActivitySession::enable() {
  limit_activity_buffers();
  int status = library_.register_buffers(&request_activity_buffer,
                                         &complete_activity_buffer);
  if (status != cupti::kSuccess)
    return library_.complaint_of("cuptiActivityRegisterCallbacks", status);
  status = library_.register_clock(&clock);
  if (status != cupti::kSuccess)
    return library_.complaint_of("cuptiActivityRegisterTimestampCallback",
                                 status);
  begun_ = now();
  collecting_ = true;
  for (const int kind : kKinds) {
    status = library_.enable(kind);
    if (status == cupti::kSuccess) continue;
    for (const int enabled : kKinds) {
      if (enabled == kind) break;
      library_.disable(enabled);
    }
    collecting_ = false;
    return library_.complaint_of("cuptiActivityEnable", status);
  }
  return {};
}

ActivitySession::~ActivitySession() {
  int64_t lost = 0;
  if (!ended_) end(lost);
}

void ActivitySession::collect(bool wanted) {
  if (std::exchange(collecting_, wanted) == wanted) return;
  for (const int kind : kKinds)
    wanted ? library_.enable(kind) : library_.disable(kind);
}

ActivitySession::Numbered::Numbered(const ActivitySession& session,
                                    uint64_t number)
    : library_(session.library_),
      pushed_(library_.push(cupti::kOurs, number) == cupti::kSuccess) {}

ActivitySession::Numbered::~Numbered() {
  if (pushed_) library_.pop(cupti::kOurs, nullptr);
}

std::vector<Activity> ActivitySession::end(int64_t& lost) {
  ended_ = true;
  collect(false);
  // Flushes what is complete, and then what never will be: of a lost device.
  library_.flush(cupti::kDone);
  library_.flush(cupti::kForced);
  size_t dropped = 0;
  if (library_.dropped(nullptr, 0, &dropped) == cupti::kSuccess)
    lost += int64_t(dropped);
  const std::vector<ActivityBuffer> buffers = take_activity_buffers();
  std::unordered_map<uint32_t, uint64_t> numbers;
  for_records(library_, buffers, [&](const cupti::Record& record) {
    if (record.kind != cupti::kExternal) return;
    const auto& r = reinterpret_cast<const cupti::ExternalRecord&>(record);
    if (r.counter == cupti::kOurs) numbers[r.correlation] = r.number;
  });
  std::vector<Activity> all;
  RecordReader reader;
  for_records(library_, buffers, [&](const cupti::Record& record) {
    Activity a;
    if (!reader.read(record, a.work)) return;
    if (a.work.duration < 0) {
      ++lost;
      return;
    }
    const auto known = numbers.find(a.work.correlation);
    if (known != numbers.end()) a.number = known->second;
    // Left over from before: it was launched by nobody that we know.
    if (a.number == 0 && a.work.start < begun_) return;
    all.push_back(std::move(a));
  });
  busy = false;
  return all;
}

DeviceLibrary cupti_report() {
  return report_of<Cupti>();
}

}  // namespace hotaru::cuda
