// Reporting what is wrong with an element; see params/errors.h.
#pragma once

#include "hotaru/backend/cuda/device/platform.h"
#include "hotaru/backend/cuda/params/errors.h"

namespace hotaru::cuda {

/// The first one counts. Code and numbers are the launcher's, which makes a
/// text of them.
__device__ inline void report_error(const ErrorSink& sink, int64_t code,
                                    int64_t a, int64_t b, int64_t c = 0) {
  ErrorReport* report = sink.report;
  if (!report || atomicCAS(&report->claimed, 0ull, sink.call) != 0) return;
  report->code = code;
  report->numbers[0] = a;
  report->numbers[1] = b;
  report->numbers[2] = c;
  __threadfence_system();  // the host reads them after `ready`
  atomicExch(&report->ready, sink.call);
}

}  // namespace hotaru::cuda
