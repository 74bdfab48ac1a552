// Kernels for the tests of the GPU in software.
#pragma once

namespace hotaru::soft_gpu {

struct SumParams {
  const float* in;
  float* out;
  long long n;
};

/// One float; threads wait for each other or not.
struct CellParams {
  float* cell;
  int what;
};

/// What "add_one_after" and "add_one_together" are told: how many threads of a
/// block wait for the grids before.
struct AfterParams {
  float* cell;
  unsigned waiting;
};

/// What "misuse" does wrong.
enum Misuse { kMissingLane, kHalfAtShuffle, kForeignMask, kThrows, kDivides };

}  // namespace hotaru::soft_gpu
