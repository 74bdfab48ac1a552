// Tensors that a backward pass needs again.
#pragma once

#include "hotaru/autograd/saved_tensor.h"
#include "torch/autograd.h"

namespace torch::autograd {

/// A tensor with the version it had. One that is an output of the node that
/// saves it keeps no cycle alive.
class SavedVariable {
 public:
  SavedVariable() = default;
  explicit SavedVariable(const Variable& variable, bool is_output = false,
                         bool = false)
      : saved_(variable.hotaru_tensor(), is_output,
               variable.defined() ? uint32_t(variable._version()) : 0, false),
        is_output_(is_output && variable.defined()) {}

  /// The tensor with its history; `saved_for`: the node whose output it is.
  /// Throws if it was written in place since.
  Variable unpack(const std::shared_ptr<Node>& saved_for = nullptr) const {
    TORCH_CHECK(!is_output_ || saved_for,
                "Trying to unpack a saved output without its grad_fn");
    const auto node = is_output_ ? saved_for->hotaru_node() : nullptr;
    return Variable(saved_.unpack(node.get()));
  }
  void reset_data() {
    saved_ = {};
    is_output_ = false;
  }

 private:
  hotaru::autograd::SavedTensor saved_;
  bool is_output_ = false;
};

}  // namespace torch::autograd
