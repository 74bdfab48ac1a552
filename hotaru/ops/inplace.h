// For in-place operators that are made of other operators.
#pragma once

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru {

/// The same elements, to write to without history or version: the operator
/// then records its own node and bumps self's version once.
inline Tensor untracked(const Tensor& self) {
  Tensor alias = make_alias(self);
  alias.impl()->tracks_version = false;
  return alias;
}

/// A copy of the values with the same history, for a formula that needs what
/// is about to be overwritten.
Tensor original(const Tensor& self);
/// Makes the values and the history of `value` those of self, as an operator
/// that wrote in place does. Throws when value's dtype can't be cast.
Tensor take_values(const Tensor& self, const Tensor& value);

/// f(self) in place, with the gradient that f records.
template <class F>
Tensor in_place(const Tensor& self, F f) {
  autograd::check_inplace(self);
  if (!autograd::needs_grad(self)) {
    const Tensor value = f(self);
    if (!autograd::needs_grad(value)) return take_values(self, value);
  }
  return take_values(self, f(original(self)));
}

}  // namespace hotaru
