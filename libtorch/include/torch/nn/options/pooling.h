#pragma once

#include <optional>
#include <vector>

#include "torch/arg.h"
#include "torch/expanding_array.h"
#include "torch/types.h"

namespace torch::nn {

template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(bool, ceil_mode) = false;
  TORCH_ARG(bool, count_include_pad) = true;
  TORCH_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};

template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  TORCH_ARG(bool, ceil_mode) = false;
};

/// Sizes of the result; in 2 and 3 dimensions nullopt keeps the input's.
template <class Size>
struct AdaptivePoolOptions {
  AdaptivePoolOptions(Size output_size) : output_size_(output_size) {}
  TORCH_ARG(Size, output_size);
};
using AdaptivePool1dOptions = AdaptivePoolOptions<ExpandingArray<1>>;
using AdaptivePool2dOptions =
    AdaptivePoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptivePool3dOptions =
    AdaptivePoolOptions<ExpandingArrayWithOptionalElem<3>>;

template <size_t D>
struct LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type),
        kernel_size_(kernel_size),
        stride_(kernel_size) {}
  TORCH_ARG(double, norm_type);
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(bool, ceil_mode) = false;
};

template <size_t D>
struct MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
};

/// Windows of random places: a size, or its share of the input's.
template <size_t D>
struct FractionalMaxPoolOptions {
  using Ratio = ExpandingArray<D, double>;

  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(std::optional<ExpandingArray<D>>, output_size) = std::nullopt;
  TORCH_ARG(std::optional<Ratio>, output_ratio) = std::nullopt;
  TORCH_ARG(Tensor, _random_samples) = Tensor();
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

namespace functional {
template <size_t D>
struct MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size)
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  TORCH_ARG(ExpandingArray<D>, stride);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(std::optional<std::vector<int64_t>>, output_size) = std::nullopt;
};
using FractionalMaxPool2dFuncOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dFuncOptions = FractionalMaxPoolOptions<3>;
}  // namespace functional

#define HOTARU_TORCH_POOL(D) \
  using AvgPool##D##dOptions = AvgPoolOptions<D>; \
  using MaxPool##D##dOptions = MaxPoolOptions<D>; \
  using AdaptiveAvgPool##D##dOptions = AdaptivePool##D##dOptions; \
  using AdaptiveMaxPool##D##dOptions = AdaptivePool##D##dOptions; \
  using LPPool##D##dOptions = LPPoolOptions<D>; \
  using MaxUnpool##D##dOptions = MaxUnpoolOptions<D>; \
  namespace functional { \
  using MaxUnpool##D##dFuncOptions = MaxUnpoolFuncOptions<D>; \
  using AvgPool##D##dFuncOptions = AvgPoolOptions<D>; \
  using MaxPool##D##dFuncOptions = MaxPoolOptions<D>; \
  using AdaptiveAvgPool##D##dFuncOptions = AdaptivePool##D##dOptions; \
  using AdaptiveMaxPool##D##dFuncOptions = AdaptivePool##D##dOptions; \
  using LPPool##D##dFuncOptions = LPPoolOptions<D>; \
  }
HOTARU_TORCH_POOL(1)
HOTARU_TORCH_POOL(2)
HOTARU_TORCH_POOL(3)
#undef HOTARU_TORCH_POOL

}  // namespace torch::nn
