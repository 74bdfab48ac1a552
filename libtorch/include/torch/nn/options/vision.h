#pragma once

#include <optional>
#include <variant>

#include "torch/arg.h"
#include "torch/enum.h"
#include "torch/types.h"

namespace torch::nn::functional {

struct GridSampleFuncOptions {
  using mode_t = std::variant<enumtype::kBilinear, enumtype::kNearest>;
  using padding_mode_t =
      std::variant<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;

  TORCH_ARG(mode_t, mode) = torch::kBilinear;
  TORCH_ARG(padding_mode_t, padding_mode) = torch::kZeros;
  TORCH_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

}  // namespace torch::nn::functional
