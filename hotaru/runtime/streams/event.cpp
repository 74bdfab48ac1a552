#include "hotaru/runtime/streams/event.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {

Mark::~Mark() = default;

bool Mark::done() const {
  HOTARU_CHECK(!branch, "operation not permitted on an event last recorded in ",
               "a capturing stream");
  return !timeline || timeline->done(number);
}

void Mark::wait() const {
  HOTARU_CHECK(!branch, "operation not permitted on an event last recorded in ",
               "a capturing stream");
  if (!timeline) return;
  timeline->wait_for(number);
  if (const std::exception_ptr met = error()) std::rethrow_exception(met);
}

double Mark::milliseconds_to(const Mark&) const {
  fail("an event that was recorded while a graph was captured has no time");
}

double Event::elapsed_time(const Event& end) const {
  HOTARU_CHECK(
      timing_ && end.timing_,
      "Both events must be created with argument 'enable_timing=True'.");
  HOTARU_CHECK(mark_ && end.mark_,
               "Both events must be recorded before calculating elapsed time.");
  synchronize();
  end.synchronize();
  return mark_->milliseconds_to(*end.mark_);
}

}  // namespace hotaru
