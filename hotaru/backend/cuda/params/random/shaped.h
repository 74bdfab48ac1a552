// Parameters of draws whose distribution differs from element to element, and
// of how they move with its parameters; and how they are launched.
//
//   DrawGamma_<suffix>       Gamma(a, 1)
//   DrawPoisson_<suffix>     counts with mean a; reports a that is negative or
//                            NaN, and makes it NaN
//   DrawBinomial_<suffix>    successes among a tries of probability b
//     grid   draw_blocks() of params/random/random.h; `state` has moved on by
//            draws_of_shaped()
//   GammaSlope_<suffix>      d b / d a of a draw b of Gamma(a, 1)
//   DirichletSlope_<suffix>  the same of an element a of a Dirichlet draw with
//                            parameter b and sum of parameters c, over 1 - a
//     grid   ceil(numel / kBlock)
//
// ShapedParams all of them, with floating suffixes of params/types.h. Blocks
// have kBlock threads and no shared memory; threads do not wait for each other.
#pragma once

#include "hotaru/backend/cuda/params/errors.h"
#include "hotaru/backend/cuda/params/index.h"
#include "hotaru/backend/cuda/params/random/philox.h"

namespace hotaru::cuda {

/// All row-major, of numel elements.
struct ShapedParams {
  void* out = nullptr;
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  uint64_t numel = 0;
  PhiloxState state;
  ErrorSink errors;
};

/// Step of the generator: four words a thread for each of its elements. However
/// many more a draw needs, they come from other sequences.
constexpr uint64_t draws_of_shaped(uint64_t numel, uint32_t blocks) {
  return ((numel - 1) / (uint64_t{kBlock} * blocks) + 1) * 4;
}
/// The n-th four words of a draw are those of the sequence
/// thread + n * kSequencesApart.
inline constexpr uint64_t kSequencesApart = uint64_t{1} << 40;

}  // namespace hotaru::cuda
