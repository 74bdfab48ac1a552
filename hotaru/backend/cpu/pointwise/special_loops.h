// Loops over special functions of single precision, with the widest vectors
// that this processor has.
#pragma once

#include "hotaru/backend/common/loop_nest.h"
#include "hotaru/backend/common/pointwise/special.h"

namespace hotaru::cpu {

/// The loop over floats of a function that has a form for them; else null.
LoopNest::Inner special_float_loop(special::Unary which);
LoopNest::Inner lgamma_float_loop();
LoopNest::Inner trigamma_float_loop();
/// Loop of igamma or igammac.
LoopNest::Inner incomplete_gamma_loop(special::Binary which);
/// The same of polynomials, whose degree is the second operand.
LoopNest::Inner polynomial_float_loop(special::Binary which);

}  // namespace hotaru::cpu
