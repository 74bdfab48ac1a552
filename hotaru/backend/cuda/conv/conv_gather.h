// Convolution and its gradients as products with gathered operands.
#pragma once

#include "hotaru/backend/cuda/conv/convolution.h"

namespace hotaru::cuda {

/// Convolutions by gathering, of windows that fit.
void gather_forward(const Convolution& c);
void gather_data(const Convolution& c);
void gather_weight(const Convolution& c);

}  // namespace hotaru::cuda
