#include "hotaru/runtime/streams/event.h"

#include "hotaru/core/error.h"
#include "hotaru/runtime/streams/queue.h"

namespace hotaru {

Mark::~Mark() = default;

bool Mark::done() const {
  HOTARU_CHECK(!branch, "operation not permitted on an event last recorded in ",
               "a capturing stream");
  return !queue || queue->done(number);
}

void Mark::wait() const {
  HOTARU_CHECK(!branch, "operation not permitted on an event last recorded in ",
               "a capturing stream");
  if (!queue) return;
  queue->wait_for(number);
  if (error) std::rethrow_exception(error);
}

double Event::elapsed_time(const Event& end) const {
  HOTARU_CHECK(
      timing_ && end.timing_,
      "Both events must be created with argument 'enable_timing=True'.");
  HOTARU_CHECK(mark_ && end.mark_,
               "Both events must be recorded before calculating elapsed time.");
  HOTARU_CHECK(
      query() && end.query(),
      "Both events must be completed before calculating elapsed time.");
  const Mark::Clock::duration between(end.mark_->time - mark_->time);
  return std::chrono::duration<double, std::milli>(between).count();
}

}  // namespace hotaru
