// Special functions: torch::special::NAME is at::special_NAME.
#pragma once

#include "ATen/ATen.h"

namespace torch::special {

#include "torch/special.inc"

}  // namespace torch::special
