#pragma once

#include <variant>
#include <vector>

#include "torch/arg.h"
#include "torch/enum.h"
#include "torch/expanding_array.h"
#include "torch/types.h"

namespace torch::nn {

/// Sizes before and after each dimension, the last dimension first.
template <size_t D>
struct PaddingOptions {
  PaddingOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  TORCH_ARG(ExpandingArray<D * 2>, padding);
};
/// With a value.
template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value)
      : padding_(padding), value_(value) {}
  TORCH_ARG(ExpandingArray<D * 2>, padding);
  TORCH_ARG(double, value);
};

#define HOTARU_TORCH_PADDING(D) \
  using ReflectionPad##D##dOptions = PaddingOptions<D>; \
  using ReplicationPad##D##dOptions = PaddingOptions<D>; \
  using ZeroPad##D##dOptions = PaddingOptions<D>; \
  using ConstantPad##D##dOptions = ConstantPadOptions<D>;
HOTARU_TORCH_PADDING(1)
HOTARU_TORCH_PADDING(2)
HOTARU_TORCH_PADDING(3)
#undef HOTARU_TORCH_PADDING

namespace functional {

struct PadFuncOptions {
  using mode_t = std::variant<enumtype::kConstant, enumtype::kReflect,
                              enumtype::kReplicate, enumtype::kCircular>;

  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  TORCH_ARG(std::vector<int64_t>, pad);
  TORCH_ARG(mode_t, mode) = torch::kConstant;
  TORCH_ARG(double, value) = 0;
};

}  // namespace functional
}  // namespace torch::nn
