// Tensors that a backward pass needs again.
#pragma once

#include "torch/autograd.h"

namespace torch::autograd {

class SavedVariable {
 public:
  SavedVariable() = default;
  explicit SavedVariable(Variable variable, bool = false, bool = false)
      : variable_(std::move(variable)),
        version_(variable_.defined() ? variable_._version() : 0) {}
  /// Throws if it was written in place since.
  Variable unpack(const std::shared_ptr<Node>& = nullptr) const {
    TORCH_CHECK(!variable_.defined() || variable_._version() == version_,
                "one of the variables needed for gradient computation has been "
                "modified by an inplace operation");
    return variable_;
  }
  void reset_data() { variable_ = Variable(); }

 private:
  Variable variable_;
  int64_t version_ = 0;
};

}  // namespace torch::autograd
