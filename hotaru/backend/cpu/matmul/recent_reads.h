// Recent reads of a thread, to guess which matrices a near cache still holds.
#pragma once

#include <cstddef>

namespace hotaru::cpu {

/// Notes that this thread reads `bytes` from `data` now, and says whether all
/// that it noted since it last read from there fits a core's second-level
/// cache together with them. A guess: it knows nothing of other reads.
bool read_recently(const void* data, size_t bytes);

}  // namespace hotaru::cpu
