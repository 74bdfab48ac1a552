// Forward-mode differentiation: tensors that carry a tangent (dual numbers).
//
// A tangent follows from the reverse formula that every operator has: that
// formula is linear in the gradients of the outputs, so its transpose, taken
// by a backward pass over the formula itself, is the Jacobian-vector product
// (J. Townsend, "A new trick for calculating Jacobian vector products", 2017).
// What has a twice differentiable gradient has a tangent.
#pragma once

#include <atomic>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"

namespace hotaru::autograd {

namespace detail {
inline std::atomic<bool> dual_level_open{false};
}
/// True if tensors may carry tangents now. One level at most is open in a
/// process; it must not be closed while other threads still compute in it.
inline bool dual_level_open() {
  return detail::dual_level_open.load(std::memory_order_relaxed);
}
/// Opens the level and returns its number, 0. Throws PyTorch's text if one is
/// open.
int64_t enter_dual_level();
/// Closes it; every tangent is dropped.
void exit_dual_level(int64_t level);

/// Tells whether operators have to give their results tangents because of `t`.
bool passes_tangent(const Tensor& t);
/// True if `t`, or the base it is a view of, carries a tangent.
bool has_tangent(const Tensor& t);

/// The tangent, undefined if there is none. A view's is that part of its
/// base's tangent, so writes into either are seen by both.
Tensor tangent(const Tensor& t);
/// Gives a tensor that is no view its tangent, of its sizes. A level must be
/// open.
void set_tangent(const Tensor& t, const Tensor& tangent);
/// Gives the result of a function its tangent, which may be undefined. One
/// that was `written` in place has one always, its base's if it is a view.
void give_tangent(const Tensor& output, Tensor tangent, bool written);
/// For a meta that goes: its tangent goes, too.
void forget_tangent(Meta& m);
/// An alias of `primal` that carries `tangent`. Throws PyTorch's texts for
/// sizes that differ and for tensors that are dual already.
Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t level);
/// An alias without the tangent; both pass gradients on.
Tensor primal_of(const Tensor& dual);

/// Keeps what an in-place operator is about to overwrite: its tangent may
/// depend on it.
void remember_original(const Tensor& t);
/// Takes what remember_original() kept of this version of t, or undefined.
Tensor take_original(const Tensor& t);
void forget_originals();

}  // namespace hotaru::autograd
