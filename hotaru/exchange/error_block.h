// Branches that are no part of what a program computes.
#pragma once

#include "hotaru/script/ir/ir.h"

namespace hotaru::exchange {

/// True if all that a block does is to raise.
inline bool only_raises(const script::Block& block) {
  for (const script::Node* node = block.first; node; node = node->next) {
    if (node->kind == script::NodeKind::kRaise) return true;
    if (!node->blocks.empty() || node->is_terminator()) return false;
  }
  return false;
}

}  // namespace hotaru::exchange
