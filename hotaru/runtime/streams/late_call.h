// A queued call whose work goes on elsewhere after its kernel has returned.
#pragma once

#include <exception>
#include <memory>

#include "hotaru/core/ref.h"

namespace hotaru {

struct CallRecord;
class KernelCall;

/// Until end() the call counts as running, and its queue is off the pool.
class LateCall : public RefCounted {
 public:
  /// Once, from any thread, with no lock held that freeing the call's operands
  /// could need. With an error it is as if the kernel had thrown it.
  virtual void end(std::exception_ptr error) = 0;
  /// The profiler's, in the thread that runs the kernel: to be completed when
  /// the call has ended.
  virtual void keep(std::unique_ptr<CallRecord> record) = 0;
};

/// For a kernel that would otherwise block: from here on the call ends with
/// end(), unless the kernel throws. Null if no queue runs this very call; then
/// the kernel has to return when it is done.
Ref<LateCall> end_later(const KernelCall& call);
/// Returns what end_later() gave for the call that this thread is in, or null.
LateCall* late_of(const KernelCall& call);

}  // namespace hotaru
