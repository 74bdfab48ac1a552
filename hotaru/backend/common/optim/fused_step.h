// Steps of optimizers, for many tensors in one call.
//
//   fused_step  of each tensor [param, grad, first, second, third, step], then
//               [grad_scale, found_inf, rate, numbers]; attributes: FusedStep
//
// The five of a tensor are updated; they are dense, of one floating dtype and
// lie in the same order; those that the rule does not use are undefined, and so
// may be what follows: float32, one element each, but for `numbers`; the rate
// may be float64, too. `step` is the count of this step, `rate` the learning
// rate. `numbers`, float64, stand for all of StepOptions, which then may change
// while a graph lives. Gradients are divided by grad_scale, and keep that;
// where found_inf is not 0, nothing happens.
#pragma once

#include <cmath>
#include <cstdint>

#include "hotaru/backend/common/both.h"

namespace hotaru {

enum class StepRule : uint8_t {
  kPlain,     // p -= rate g
  kMomentum,  // first: velocity
  kAdam,      // first, second: running means of g and g^2
  kAmsgrad,   // third: the largest second so far
  kAdagrad,   // first: sum of g^2
};
inline constexpr int kStepStates = 3;
/// Operands of a tensor, and behind the last tensor.
inline constexpr size_t kStepOperands = 3 + kStepStates, kStepExtras = 4;

/// Numbers that schedules change.
struct StepOptions {
  double rate = 0, rate_decay = 0, weight_decay = 0, eps = 0;
  /// Decays of the running means; of momentum the factor, and 1 - dampening.
  double beta1 = 0, beta2 = 0;
};
inline constexpr int64_t kStepNumbers = sizeof(StepOptions) / sizeof(double);

struct FusedStep {
  StepRule rule = StepRule::kPlain;
  bool maximize = false;
  /// Weight decay of the parameter itself, not by the gradient.
  bool decoupled = false;
  bool nesterov = false;
  /// Velocities begin with this gradient.
  bool begins = false;
  StepOptions options;
  /// Where the operand is undefined.
  double step = 1;
};

/// Numbers that a tensor's elements share, in the type they are computed in.
template <class A>
struct StepNumbers {
  A rate, weight_decay, beta1, fresh1, beta2, fresh2, eps, root;
  bool maximize, decoupled, nesterov, begins;
};

template <class A>
HOTARU_BOTH StepNumbers<A> step_numbers(const FusedStep& a,
                                        const StepOptions& o, double step) {
  StepNumbers<A> n{};
  double scale = o.rate, root = 1;
  if (a.rule == StepRule::kAdam || a.rule == StepRule::kAmsgrad) {
    scale = o.rate / (1 - std::pow(o.beta1, step));
    root = std::sqrt(1 - std::pow(o.beta2, step));
  } else if (a.rule == StepRule::kAdagrad) {
    scale = o.rate / (1 + (step - 1) * o.rate_decay);
  }
  n.rate = A(scale);
  n.weight_decay = A(a.decoupled ? o.rate * o.weight_decay : o.weight_decay);
  n.beta1 = A(o.beta1);
  n.fresh1 = A(1 - o.beta1);
  n.beta2 = A(o.beta2);
  n.fresh2 = A(1 - o.beta2);
  n.eps = A(o.eps);
  n.root = A(root);
  n.maximize = a.maximize;
  n.decoupled = a.decoupled;
  n.nesterov = a.nesterov;
  n.begins = a.begins;
  return n;
}

/// One element's step. Adam: Kingma and Ba, arXiv 1412.6980; largest roots:
/// Reddi et al. 2018; decoupled decay: Loshchilov and Hutter, arXiv 1711.05101;
/// Adagrad: Duchi et al. 2011.
template <StepRule kRule, class A>
HOTARU_INLINE void take_step(const StepNumbers<A>& n, A& p, A g, A& first,
                             A& second, A& third) {
  if (n.maximize) g = -g;
  if (n.weight_decay != A(0)) {
    if (n.decoupled)
      p -= n.weight_decay * p;
    else
      g += n.weight_decay * p;
  }
  if constexpr (kRule == StepRule::kPlain) {
    p -= n.rate * g;
  } else if constexpr (kRule == StepRule::kMomentum) {
    // beta2 is 1 - dampening.
    first = n.begins ? g : n.beta1 * first + n.beta2 * g;
    p -= n.rate * (n.nesterov ? g + n.beta1 * first : first);
  } else if constexpr (kRule == StepRule::kAdagrad) {
    first += g * g;
    p -= n.rate * (g / (std::sqrt(first) + n.eps));
  } else {
    // From the nearer end, as lerp does.
    const A way = g - first;
    first = n.fresh1 < A(0.5) ? first + n.fresh1 * way : g - n.beta1 * way;
    second = n.beta2 * second + n.fresh2 * (g * g);
    A square = second;
    if constexpr (kRule == StepRule::kAmsgrad)
      square = third = third < second || second != second ? second : third;
    p -= n.rate * (first / (std::sqrt(square) / n.root + n.eps));
  }
}

}  // namespace hotaru
