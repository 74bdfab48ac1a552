// Work of devices, kernel by kernel, as NVIDIA's CUPTI tells it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/device_timer.h"

namespace hotaru::cuda {

struct Cupti;

/// A kernel, copy or fill, and the number that the thread had which launched
/// it; 0: none.
struct Activity {
  uint64_t number = 0;
  DeviceWork work;
};

/// CUPTI's attention, which it has for one session at a time. Times are the
/// steady clock's.
class ActivitySession {
 public:
  /// Collects from now on. Null where CUPTI was not found or is busy; where it
  /// is there and would not, `complaint` says why. HOTARU_CUPTI=0: is not
  /// asked.
  static std::unique_ptr<ActivitySession> begin(std::string& complaint);
  ~ActivitySession();

  void collect(bool wanted);

  /// Scope that gives its number to what this thread launches in it. Scopes may
  /// lie in each other.
  class Numbered {
   public:
    Numbered(const ActivitySession& session, uint64_t number);
    ~Numbered();
    Numbered(const Numbered&) = delete;
    Numbered& operator=(const Numbered&) = delete;

   private:
    const Cupti& library_;
    const bool pushed_;
  };

  /// Ends it. What devices have not done by now counts as lost, as does what
  /// there was no memory for.
  std::vector<Activity> end(int64_t& lost);

 private:
  explicit ActivitySession(const Cupti& library);
  /// Empty if all went well.
  std::string enable();

  const Cupti& library_;
  int64_t begun_ = 0;
  bool collecting_ = false, ended_ = false;
};

DeviceLibrary cupti_report();

}  // namespace hotaru::cuda
