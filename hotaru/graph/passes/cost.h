// How long calls take, guessed from what they are told.
#pragma once

#include "hotaru/runtime/kernel.h"

namespace hotaru::graph {

/// Nanoseconds.
struct Cost {
  /// In one thread.
  double alone = 0;
  /// With all threads that the call can use.
  double divided = 0;
};

/// Cost of a call on that many threads: the larger of what its arithmetic and
/// its memory take on a processor of some 50 GFLOP/s and 20 GB/s a core. Right
/// within a few times, which is enough to tell a microsecond from a hundred.
Cost cost_of(const KernelCall& call, int threads);

}  // namespace hotaru::graph
