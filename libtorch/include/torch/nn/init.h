// First values of parameters. Each fills its tensor, outside of autograd, with
// the draws that Python's torch.nn.init makes, and gives it back.
#pragma once

#include <utility>
#include <variant>

#include "torch/enum.h"
#include "torch/types.h"

namespace torch::nn::init {

using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D,
                 enumtype::kConv3D, enumtype::kConvTranspose1D,
                 enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                 enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU,
                 enumtype::kLeakyReLU>;
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

/// Factor that a nonlinearity's inputs are to be scaled by.
double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);
Tensor constant_(Tensor tensor, Scalar value);
/// Fills a tensor of two to five dimensions; the identity over the middle of
/// the window.
Tensor dirac_(Tensor tensor);
Tensor eye_(Tensor matrix);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
Tensor ones_(Tensor tensor);
Tensor zeros_(Tensor tensor);
Tensor orthogonal_(Tensor tensor, double gain = 1.0);
Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);
Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1,
                     double a = -2, double b = 2);
Tensor kaiming_normal_(Tensor tensor, double a = 0,
                       FanModeType mode = torch::kFanIn,
                       NonlinearityType nonlinearity = torch::kLeakyReLU);
Tensor kaiming_uniform_(Tensor tensor, double a = 0,
                        FanModeType mode = torch::kFanIn,
                        NonlinearityType nonlinearity = torch::kLeakyReLU);
Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);

/// Inputs and outputs of one element. Throws below two dimensions.
std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(
    const Tensor& tensor);

}  // namespace torch::nn::init
