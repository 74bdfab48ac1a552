// Parameters as one vector, and back.
#pragma once

#include <vector>

#include "torch/types.h"

namespace torch::nn::utils {

/// All elements in a row. Throws for parameters on different devices.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// Makes the parameters views of the vector's elements.
void vector_to_parameters(const Tensor& vector,
                          const std::vector<Tensor>& parameters);

}  // namespace torch::nn::utils
