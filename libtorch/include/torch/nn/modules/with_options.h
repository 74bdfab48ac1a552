// Modules that are a function with options, and nothing to learn.
#pragma once

#include <utility>

#include "torch/nn/cloneable.h"

namespace torch::nn {

/// Has `options`, made from one or from its constructor's arguments.
template <class Derived, class Options>
class WithOptions : public Cloneable<Derived> {
 public:
  WithOptions() requires std::is_default_constructible_v<Options>
  = default;
  explicit WithOptions(Options given) : options(std::move(given)) {}
  void reset() override {}

  Options options;
};

}  // namespace torch::nn
