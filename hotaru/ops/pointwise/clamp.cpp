// Values between limits: numbers, or tensors that have gradients.
#include <cmath>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/pointwise/refusal.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/registry.h"

namespace hotaru {
namespace {

/// The kernel for the limits there are.
const elementwise::Spec& clamp_spec(bool low, bool high) {
  static const elementwise::Spec kBoth{kernel("clamp")},
      kLow{kernel("clamp_min")}, kHigh{kernel("clamp_max")};
  return low && high ? kBoth : low ? kLow : kHigh;
}

PointwiseNumbers clamp_numbers(const Optional<Scalar>& min,
                               const Optional<Scalar>& max) {
  return {min ? *min : *max, max ? *max : *min};
}

/// The dtype of the result; refuses what has no order, and no limit at all.
DType clamp_dtype(const Tensor& self, const Optional<Scalar>& min,
                  const Optional<Scalar>& max) {
  HOTARU_CHECK(min || max,
               "torch.clamp: At least one of 'min' or 'max' must not be None");
  if (self.is_complex()) refuse_pointwise("clamp", self.dtype());
  DType dtype = self.dtype();
  for (const auto& limit : {min, max})
    if (limit)
      dtype = result_type(
          {full({}, 0, {dtype}), elementwise::operand(*limit, self)});
  return dtype;
}

/// True if a limit is NaN, which all elements then are; others must fit.
bool clamps_to_nan(DType dtype, const Optional<Scalar>& min,
                   const Optional<Scalar>& max) {
  bool nan = false;
  for (const auto& limit : {min, max}) {
    if (!limit) continue;
    nan |= !limit->is_complex() && std::isnan(limit->to_double());
    if (!nan) check_bound(dtype, *limit);
  }
  return nan;
}

}  // namespace

Tensor clamp(const Tensor& self, const Optional<Scalar>& min,
             const Optional<Scalar>& max) {
  const DType dtype = clamp_dtype(self, min, max);
  if (dtype != self.dtype()) return clamp(to(self, dtype), min, max);
  Tensor out = clamps_to_nan(dtype, min, max)
                   ? full_like(self, std::nan(""))
                   : elementwise::unary(clamp_spec(bool(min), bool(max)), self,
                                        clamp_numbers(min, max));
  if (autograd::needs_grad(self)) grads::clamp(out, self, min, max);
  return out;
}

Tensor clamp_(const Tensor& self, const Optional<Scalar>& min,
              const Optional<Scalar>& max) {
  const DType dtype = clamp_dtype(self, min, max);
  if (autograd::needs_grad(self) || dtype != self.dtype() ||
      clamps_to_nan(dtype, min, max))
    return in_place(self, [&](const Tensor& x) { return clamp(x, min, max); });
  elementwise::unary_into(clamp_spec(bool(min), bool(max)), self, self,
                          clamp_numbers(min, max));
  self.bump_version();
  return self;
}

namespace {

Tensor clamp(const Tensor& self, const Tensor& min, const Tensor& max) {
  HOTARU_CHECK(min.defined() || max.defined(),
               "torch.clamp: At least one of 'min' or 'max' must not be None");
  if (self.is_complex()) refuse_pointwise("clamp", self.dtype());
  const DType dtype = result_type({self, min, max});
  if (min.defined() && max.defined() && dtype == DType::kBool)
    refuse_dtype("clamp_cpu", dtype);
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    out = to(self, dtype);
    if (min.defined()) out = maximum(out, min);
    if (max.defined()) out = minimum(out, max);
  }
  if (autograd::needs_grad(self, min, max)) grads::clamp(out, self, min, max);
  return out;
}

// Tensors of one element are no numbers: they count in promotion.
HOTARU_OP(
    "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> "
    "Tensor",
    clamp);
HOTARU_OP(
    "clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> "
    "Tensor",
    clamp);
HOTARU_OP("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
          hotaru::clamp);
HOTARU_OP("clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
          hotaru::clamp);

Tensor clamp_in_place(const Tensor& self, const Tensor& min,
                      const Tensor& max) {
  for (const Tensor* t : {&min, &max})
    if (t->defined()) check_overlap(self, *t);
  return in_place(self, [&](const Tensor& x) { return clamp(x, min, max); });
}

/// clamp_() and clip_(), for numbers and for tensors.
#define HOTARU_CLAMP_INTO(name) \
  HOTARU_OP( \
      #name \
      ".Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) " \
      "-> Tensor(a!)", \
      +[](const Tensor& self, const Tensor& min, const Tensor& max) { \
        return clamp_in_place(self, min, max); \
      }); \
  HOTARU_OP(#name \
            "(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> " \
            "Tensor(a!)", \
            hotaru::clamp_);
HOTARU_CLAMP_INTO(clamp_)
HOTARU_CLAMP_INTO(clip_)
#undef HOTARU_CLAMP_INTO

// One bound alone, a tensor or a number.
Tensor clamp_min_by_tensor(const Tensor& self, const Tensor& min) {
  return clamp(self, min, Tensor());
}
Tensor clamp_max_by_tensor(const Tensor& self, const Tensor& max) {
  return clamp(self, Tensor(), max);
}
Tensor clamp_min(const Tensor& self, const Scalar& min) {
  return clamp(self, Optional<Scalar>(min), Optional<Scalar>());
}
Tensor clamp_max(const Tensor& self, const Scalar& max) {
  return clamp(self, Optional<Scalar>(), Optional<Scalar>(max));
}
HOTARU_WITH_IN_PLACE("clamp_min", ".Tensor(Tensor", " self, Tensor min)",
                     clamp_min_by_tensor);
HOTARU_WITH_IN_PLACE("clamp_min", "(Tensor", " self, Scalar min)", clamp_min);
HOTARU_WITH_IN_PLACE("clamp_max", ".Tensor(Tensor", " self, Tensor max)",
                     clamp_max_by_tensor);
HOTARU_WITH_IN_PLACE("clamp_max", "(Tensor", " self, Scalar max)", clamp_max);

}  // namespace
}  // namespace hotaru
