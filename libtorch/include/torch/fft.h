// Fourier transforms: torch::fft::NAME is at::fft_NAME.
#pragma once

#include "ATen/ATen.h"

namespace torch::fft {
#include "torch/fft.inc"

/// Frequencies of samples at a distance of 1.
inline at::Tensor fftfreq(int64_t n, const at::TensorOptions& options) {
  return fftfreq(n, 1.0, options);
}
inline at::Tensor rfftfreq(int64_t n, const at::TensorOptions& options) {
  return rfftfreq(n, 1.0, options);
}

}  // namespace torch::fft
