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

/// Parameters of "add_one_after" and "add_one_together": how many threads of a
/// block wait for the grids before.
struct AfterParams {
  float* cell;
  unsigned waiting;
};

/// Mistakes that "misuse" makes.
enum Misuse { kMissingLane, kHalfAtShuffle, kForeignMask, kThrows, kDivides };

}  // namespace hotaru::soft_gpu
