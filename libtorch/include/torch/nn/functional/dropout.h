#pragma once

#include "torch/nn/options/dropout.h"

namespace torch::nn::functional {

namespace detail {
Tensor dropout(Tensor input, double p, bool training, bool inplace);
Tensor dropout2d(Tensor input, double p, bool training, bool inplace);
Tensor dropout3d(Tensor input, double p, bool training, bool inplace);
Tensor alpha_dropout(Tensor input, double p, bool training, bool inplace);
Tensor feature_alpha_dropout(Tensor input, double p, bool training,
                             bool inplace);
}  // namespace detail

Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});
Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {});
Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {});
Tensor feature_alpha_dropout(
    Tensor input, const FeatureAlphaDropoutFuncOptions& options = {});

}  // namespace torch::nn::functional
