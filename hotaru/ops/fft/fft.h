// Discrete Fourier transforms over dimensions of a tensor.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Divisor of a transform of n points, with PyTorch's numbers.
enum class FftScale : int64_t { kNone, kRoot, kPoints };

/// Complex to complex.
Tensor fft_c2c(const Tensor& self, IntSpan dims, FftScale scale, bool forward);
/// Real to complex, forward. The last of dims keeps n / 2 + 1 points if
/// onesided; the others are conjugates of these.
Tensor fft_r2c(const Tensor& self, IntSpan dims, FftScale scale, bool onesided);
/// Back, to a real tensor of `last` points along the last of dims, of which
/// self has last / 2 + 1.
Tensor fft_c2r(const Tensor& self, IntSpan dims, FftScale scale, int64_t last);

}  // namespace hotaru
