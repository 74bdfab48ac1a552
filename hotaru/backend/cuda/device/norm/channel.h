// Normalisation by a channel's mean and deviation.
#pragma once

#include <cmath>

#include "hotaru/backend/cuda/device/platform.h"

namespace hotaru::cuda {

/// From a running variance.
template <class A>
HOTARU_DEVICE inline A running_rstd(A var, double eps) {
  return A(1 / std::sqrt(double(var) + eps));
}

template <class A>
struct ChannelScale {
  A scale, shift;

  HOTARU_DEVICE ChannelScale(A mean, A rstd, A weight, A bias)
      : scale(rstd * weight), shift(bias - mean * scale) {}
  HOTARU_DEVICE A operator()(A x) const { return x * scale + shift; }
};

}  // namespace hotaru::cuda
