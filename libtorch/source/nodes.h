// Nodes between hotaru and programs.
#pragma once

#include "torch/csrc/autograd/function.h"

namespace torch::autograd {

/// The program's node, if hotaru's stands for one; otherwise one to look at.
/// Null for null.
std::shared_ptr<Node> node_of(const hotaru::Ref<hotaru::autograd::Node>& node);

}  // namespace torch::autograd
