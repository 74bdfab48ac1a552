// For in-place operators that are made of other operators.
#pragma once

#include <type_traits>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/registry.h"

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

/// check_overlap() of what may be a tensor.
template <class A>
void check_argument_overlap(const Tensor& self, const A& argument) {
  if constexpr (std::is_same_v<A, Tensor>) check_overlap(self, argument);
}

/// The in-place form of F(self, ...), for a schema.
template <auto F>
struct InPlace;
template <class... A, Tensor (*F)(const Tensor&, A...)>
struct InPlace<F> {
  static Tensor call(const Tensor& self, A... arguments) {
    (check_argument_overlap(self, arguments), ...);
    return in_place(self, [&](const Tensor& x) { return F(x, arguments...); });
  }
};

}  // namespace hotaru

/// Registers F under a schema and its in-place form under that name and `_`;
/// the schema comes as name, all up to `Tensor` and what follows.
#define HOTARU_WITH_IN_PLACE(name, first, rest, F) \
  HOTARU_OP(name first rest " -> Tensor", F); \
  HOTARU_OP(name "_" first "(a!)" rest " -> Tensor(a!)", \
            ::hotaru::InPlace<&F>::call)
