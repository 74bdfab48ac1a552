// For in-place operators that are made of other operators.
#pragma once

#include "hotaru/core/tensor.h"

namespace hotaru {

/// The same elements, to write to without history or version: the operator
/// then records its own node and bumps self's version once.
inline Tensor untracked(const Tensor& self) {
  Tensor alias = make_alias(self);
  alias.impl()->tracks_version = false;
  return alias;
}

}  // namespace hotaru
