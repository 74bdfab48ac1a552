// How loops over rows are cut for threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {

/// How many rows of `work` elements each make a thread's while.
inline int64_t row_grain(int64_t work) {
  return std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, work));
}

}  // namespace hotaru::cpu
