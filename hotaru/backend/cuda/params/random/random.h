// Parameters of random draws, and how they are launched.
//
//   DrawUniform_<suffix>      in [a, b)
//   DrawNormal_<suffix>       mean a, standard deviation b
//   DrawExponential_<suffix>  rate a
//   DrawCauchy_<suffix>       median a, half the width at half the maximum b
//   DrawLogNormal_<suffix>    the exponential of DrawNormal
//   DrawGeometric_<suffix>    trials up to the first success, of probability a
//   DrawBernoulli_<suffix>    1 with probability a
//   DrawInteger_<suffix>      base + word % range; words of 64 bits with
//   `wide`,
//                             of which range 0 takes all
//   DrawSlopes_<suffix>       uniform in [a, b) where `in` is not positive,
//                             else 1
//     DrawParams; grid draw_blocks()
//   DrawKept_<suffix>         1 with probability a, with `vector` elements side
//                             by side to a thread
//     DrawParams, dense; grid draw_blocks()
//   DrawEach_<suffix>         1 with the probability of `in` (float, or double
//                             with `wide`), four elements a thread
//     DrawParams, dense; grid ceil(numel / (4 kBlock))
//   MultinomialSums_<suffix>  running sums of each row's weights
//     MultinomialParams; grid rows; threads wait for each other
//   MultinomialDraw_<suffix>  positions by these sums
//     MultinomialParams; grid ceil(rows samples / kBlock)
//
// Blocks have kBlock threads and no shared memory at launch. What is drawn for
// which element is PyTorch's, which depends on the grid: so does draw_blocks().
#pragma once

#include "hotaru/backend/cuda/params/index.h"
#include "hotaru/backend/cuda/params/random/philox.h"

namespace hotaru::cuda {

struct DrawParams {
  void* out = nullptr;
  const void* in = nullptr;
  /// Below 2^31 where there is an index to look elements up in.
  uint64_t numel = 0;
  uint32_t vector = 1;
  PhiloxState state;
  double a = 0, b = 1;
  uint64_t range = 0;
  int64_t base = 0;
  bool wide = false;
  /// Elements in the order in which they lie in memory.
  Index<1> index;
};

/// Blocks that the processors hold at once, or as many as there is work for.
constexpr uint32_t draw_blocks(int64_t numel, int sms, int threads_of_sm) {
  const int64_t all = ceil_divide(numel, kBlock);
  const int64_t room = int64_t{sms} * (threads_of_sm / int(kBlock));
  return uint32_t(all < room ? all : room);
}
/// Step of the generator where a thread makes so many values of four words.
constexpr uint64_t draws_of(int64_t numel, uint32_t blocks, uint32_t values) {
  return (uint64_t(numel - 1) / (uint64_t{kBlock} * blocks * values) + 1) * 4;
}

/// Row-major [rows, n] weights and [rows, samples] positions.
struct MultinomialParams {
  void* out = nullptr;
  const void* weights = nullptr;
  /// OpMath<T>, [rows, n].
  void* sums = nullptr;
  uint32_t rows = 1, n = 1;
  uint64_t samples = 1;
  PhiloxState state;
};
/// A thread of PyTorch's has a sample of every so many-th row, in blocks of so
/// many.
inline constexpr uint32_t kMultinomialRows = 65535;
inline constexpr uint32_t kMultinomialBlock = 128;

}  // namespace hotaru::cuda
