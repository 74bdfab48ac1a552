#include "hotaru/backend/cuda/cupti/activity_timer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "hotaru/backend/cuda/cupti/cupti.h"
#include "hotaru/backend/cuda/stream.h"
#include "hotaru/core/error.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda {
namespace {

constinit std::atomic<uint64_t> timers{0};

/// For all streams at once: nothing is put on them.
class ActivityTimer final : public DeviceTimer, public StreamTimer {
 public:
  explicit ActivityTimer(std::unique_ptr<ActivitySession> session)
      : session_(std::move(session)) {}

  StreamTimer& here() override {
    used_[size_t(launching_timeline().device())].store(
        true, std::memory_order_relaxed);
    return *this;
  }
  Ref<CallWork> run(const KernelCall& call) override;
  void collect(bool wanted) override;
  void synchronize() override;
  DeviceProfile finish() override;

 private:
  void forget(uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (number - first_ < works_.size()) works_[number - first_] = nullptr;
  }
  /// Gives each work what was done for it.
  void hand_out(std::vector<Activity> activities, DeviceProfile& profile);

  // Numbers of other timers are others: theirs may turn up late.
  const uint64_t first_ = (timers.fetch_add(1) + 1) << 40;
  std::array<std::atomic<bool>, kMostDevices> used_{};
  // Guards the rest.
  std::mutex mutex_;
  // By number; null: the call failed.
  std::vector<Ref<CallWork>> works_;
  // Null when the profile is over.
  std::shared_ptr<ActivitySession> session_;
};

Ref<CallWork> ActivityTimer::run(const KernelCall& call) {
  std::shared_ptr<ActivitySession> session;
  Ref<CallWork> work = make_ref<CallWork>();
  uint64_t number = first_;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
    number += works_.size();
    if (session) works_.push_back(work);
  }
  if (!session) {  // the profile ended meanwhile
    call.run(DeviceType::kCUDA);
    return work;
  }
  try {
    const ActivitySession::Numbered scope(*session, number);
    call.run(DeviceType::kCUDA);
  } catch (...) {
    forget(number);
    throw;
  }
  return work;
}

void ActivityTimer::collect(bool wanted) {
  const std::lock_guard lock(mutex_);
  if (session_) session_->collect(wanted);
}

void ActivityTimer::synchronize() {
  std::exception_ptr error;
  for (size_t device = 0; device < used_.size(); ++device) {
    if (!used_[device]) continue;
    try {
      synchronize_device(int(device));
    } catch (const Error&) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

void ActivityTimer::hand_out(std::vector<Activity> activities,
                             DeviceProfile& profile) {
  std::stable_sort(activities.begin(), activities.end(),
                   [](const Activity& a, const Activity& b) {
                     return a.work.start < b.work.start;
                   });
  for (Activity& activity : activities) {
    const uint64_t at = activity.number - first_;
    if (activity.number != 0 && at >= works_.size()) continue;  // another's
    if (activity.number == 0 || !works_[at])
      profile.others.push_back(std::move(activity.work));
    else
      works_[at]->parts.push_back(std::move(activity.work));
  }
}

DeviceProfile ActivityTimer::finish() {
  const BlockingRegion region;
  for (size_t device = 0; device < used_.size(); ++device) {
    if (!used_[device]) continue;
    try {
      use(int(device));
      driver().cuCtxSynchronize();  // its errors are synchronize()'s
    } catch (const Error&) {        // a lost device knows no times
    }
  }
  DeviceProfile profile;
  const std::lock_guard lock(mutex_);
  if (!session_) return profile;
  hand_out(session_->end(profile.lost), profile);
  session_ = nullptr;
  works_.clear();
  return profile;
}

}  // namespace

std::shared_ptr<DeviceTimer> make_activity_timer(std::string& complaint) {
  auto session = ActivitySession::begin(complaint);
  if (!session) return nullptr;
  return std::make_shared<ActivityTimer>(std::move(session));
}

}  // namespace hotaru::cuda
