// Arguments of programs, as hotaru takes them.
#pragma once

#include <vector>

#include "hotaru/core/value.h"
#include "torch/jit.h"

namespace torch::jit {

/// Values of arguments, in their order.
inline std::vector<hotaru::Value> values_of(const Stack& inputs) {
  std::vector<hotaru::Value> out;
  out.reserve(inputs.size());
  for (const IValue& input : inputs) out.push_back(input.hotaru_value());
  return out;
}

}  // namespace torch::jit
