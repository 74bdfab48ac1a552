// Scaling of losses, so that small gradients survive float16.
#include "hotaru/backend/common/pointwise/amp.h"

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/memory_order.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

void check_one(const char* name, const Tensor& t, DType dtype) {
  HOTARU_CHECK(t.numel() == 1, name, " must be a 1-element tensor.");
  HOTARU_CHECK(t.dtype() == dtype, name, " must be ",
               dtype == DType::kInt32 ? "an int" : "a float", " tensor.");
}

/// The same elements, outermost dimension first as they lie in memory.
Tensor as_it_lies(const Tensor& t) {
  return permute(t, memory_order(t));
}

void unscale(const Tensors& grads, const Tensor& found_inf,
             const Tensor& inv_scale) {
  static const Kernel& kUnscale = kernel("amp_unscale");
  if (grads.empty()) return;
  check_one("inv_scale", inv_scale, DType::kFloat32);
  check_one("found_inf", found_inf, DType::kFloat32);
  // Gradients are written to, but, as in PyTorch, not seen to have changed.
  const autograd::NoGrad no_grad;
  for (const Tensor& grad : grads) {
    Tensor lying = as_it_lies(detach(grad));
    const bool dense = lying.is_contiguous();
    if (!dense) lying = contiguous(lying);
    enqueue(kUnscale, {update(lying), update(found_inf), read(inv_scale)});
    if (!dense) copy_(as_it_lies(grad), lying);
  }
}

Tensor update_scale(const Tensor& scale, const Tensor& tracker,
                    const Tensor& found_inf, double growth, double backoff,
                    int64_t interval) {
  static const Kernel& kUpdate = kernel("amp_update");
  check_one("growth_tracker", tracker, DType::kInt32);
  check_one("current_scale", scale, DType::kFloat32);
  check_one("found_inf", found_inf, DType::kFloat32);
  enqueue(kUpdate, {update(scale), update(tracker), read(found_inf)},
          ScaleUpdate{growth, backoff, interval});
  scale.bump_version();
  return scale;
}

HOTARU_OP(
    "_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, "
    "Tensor(b!) found_inf, Tensor inv_scale) -> ()",
    unscale);
HOTARU_OP(
    "_amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, "
    "Tensor found_inf, float scale_growth_factor, float scale_backoff_factor, "
    "int growth_interval) -> Tensor(a!)",
    update_scale);

}  // namespace
}  // namespace hotaru
