// Special functions: torch::special::NAME is at::special_NAME, or at::NAME for
// those that stand there as well.
#pragma once

#include "ATen/ATen.h"

namespace torch::special {

#include "torch/special.inc"

using at::digamma;
using at::erf;
using at::erfc;
using at::exp2;
using at::expm1;
using at::log1p;
using at::log_softmax;
using at::logit;
using at::logsumexp;
using at::round;
using at::sinc;
using at::softmax;
using at::xlogy;

inline at::Tensor expit(const at::Tensor& self) {
  return at::sigmoid(self);
}
inline at::Tensor gammaln(const at::Tensor& self) {
  return at::lgamma(self);
}
inline at::Tensor psi(const at::Tensor& self) {
  return at::digamma(self);
}

}  // namespace torch::special
