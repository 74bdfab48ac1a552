// Gradients of losses that have a node of their own.
#pragma once

#include <functional>

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Records loss(self, target) after a reduction: `slope(x, t)` is the
/// derivative by self of an element's loss, the one by target its negative.
void record_difference_loss(
    const char* node, const Tensor& out, const Tensor& self,
    const Tensor& target, int64_t reduction,
    std::function<Tensor(const Tensor& x, const Tensor& t)> slope);

/// g broadcast to `size` and divided as the reduction asks.
Tensor spread_loss_gradient(const Tensor& g, IntSpan size, int64_t reduction);

}  // namespace hotaru
