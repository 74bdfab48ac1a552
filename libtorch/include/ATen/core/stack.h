// The values that boxed functions take and give.
#pragma once

#include <vector>

#include "ATen/core/ivalue.h"

namespace torch::jit {

using c10::IValue;
/// Arguments at the end, in the order of the schema; results in their place.
using Stack = std::vector<IValue>;

template <class... T>
void push(Stack& stack, T&&... values) {
  (stack.emplace_back(std::forward<T>(values)), ...);
}
inline IValue pop(Stack& stack) {
  IValue last = std::move(stack.back());
  stack.pop_back();
  return last;
}
inline void drop(Stack& stack, size_t n) {
  stack.erase(stack.end() - int64_t(n), stack.end());
}
/// The i-th of the last n.
inline IValue& peek(Stack& stack, size_t i, size_t n) {
  return *(stack.end() - int64_t(n) + int64_t(i));
}

}  // namespace torch::jit

namespace c10 {
using Stack = torch::jit::Stack;
}
