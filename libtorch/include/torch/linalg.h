// Linear algebra: torch::linalg::NAME is at::linalg_NAME.
#pragma once

#include "ATen/ATen.h"

namespace torch::linalg {
#include "torch/linalg.inc"
}
