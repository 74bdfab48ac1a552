// Parameters of the kernels of losses besides their operands.
#pragma once

#include <cstdint>

namespace hotaru {

// Operands of "binary_cross_entropy_check": update what depends on the check
// (left as it is), read x, row-major. Throws unless x lies in [0, 1].

/// x is [n, classes, space], target [n, space] int64 or uint8. Operands of
/// "nll_loss": write loss (one element, or [n, space] if reduction is 0),
/// write total weight (one element), read x, read target, read weight
/// [classes] (undefined: ones). loss = -weight[target] x[target]; reduction 1
/// divides the sum by the total weight, 2 sums. Targets equal to ignore_index
/// count nothing; another one outside the classes is an IndexError. Operands
/// of "nll_loss_grad": write gx (x's shape), read g (loss's shape), read
/// target, read weight, read total weight.
struct NllAttributes {
  int64_t n = 1, classes = 1, space = 1;
  int64_t reduction = 1;
  int64_t ignore_index = -100;
};

}  // namespace hotaru
