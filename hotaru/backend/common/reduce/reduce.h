// Attributes of the reduction kernels. Their operands are the result, with
// size 1 in every reduced dimension, and the input; which dimensions are
// reduced follows from the two shapes.
#pragma once

#include <cstdint>

namespace hotaru {

/// Kernel "sum": NaNs may count as zero, the sum may be divided by the number
/// of elements.
struct SumAttributes {
  bool mean = false;
  bool skip_nan = false;
};

/// Kernel "var": operands variance or standard deviation, optionally mean,
/// input. The sum of squared deviations is divided by max(0, n - correction).
struct VarAttributes {
  double correction = 1;
  bool root = false;
};

/// Kernel "norm": (sum |x|^order)^(1/order); infinities mean largest and
/// smallest magnitude, 0 the number of nonzero elements.
struct NormAttributes {
  double order = 2;
};

}  // namespace hotaru
