// Fourier transforms: torch::fft::NAME is at::fft_NAME.
#pragma once

#include "ATen/ATen.h"

namespace torch::fft {
#include "torch/fft.inc"
}
