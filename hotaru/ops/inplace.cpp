#include "hotaru/ops/inplace.h"

#include "hotaru/autograd/leaf.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/refuse.h"

namespace hotaru {

Tensor original(const Tensor& self) {
  autograd::grad_fn(self);  // brings a view's history up to date
  const autograd::NoGrad no_grad;
  Tensor out = clone(self);
  out.impl()->autograd = autograd::copy_history(self);
  if (autograd::has_tangent(self))
    autograd::set_tangent(out, autograd::tangent(self));
  return out;
}

Tensor take_values(const Tensor& self, const Tensor& value) {
  autograd::check_inplace(self);
  check_can_cast(value.dtype(), self.dtype());
  check_result_shape(self.sizes(), value.sizes());
  // The writer's node can stand for self itself, unless a view's base is
  // written or a cast comes between.
  const bool direct = autograd::needs_grad(value) && !self.is_view() &&
                      value.dtype() == self.dtype();
  if (!direct) return copy_(self, value);
  {
    const autograd::NoGrad no_grad;
    copy_(untracked(self), value);
  }
  if (autograd::grad_enabled()) autograd::take_history(self, value);
  if (autograd::passes_tangent(value))
    autograd::set_tangent(self, autograd::tangent(value));
  self.bump_version();
  return self;
}

}  // namespace hotaru
