// Parameters of elementwise kernels besides their operands.
#pragma once

#include "hotaru/core/scalar.h"

namespace hotaru {

/// Numbers of a formula: alpha, limits, slopes. Unused ones stay 0.
struct PointwiseNumbers {
  Scalar a{0.0}, b{0.0}, c{0.0};
};

}  // namespace hotaru
