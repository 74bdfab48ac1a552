// Leaky ReLU with random slopes.
#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/random/random.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/registry.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

// Slopes are drawn while training; otherwise their mean is used.
Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper,
             bool training, Generator* generator) {
  const double lo = lower.to_double(), hi = upper.to_double();
  HOTARU_CHECK(lo <= hi,
               "Lower bound should be less than or equal to the "
               "upper bound");
  if (!training) return leaky_relu(self, (lo + hi) / 2);
  static const Kernel& draw = kernel("random_slopes");
  const Tensor slopes = row_major_like(self);
  if (self.numel() > 0) {
    autograd::NoGrad guard;
    const Tensor x = contiguous(self);
    Generator& gen = chosen(generator, self);
    enqueue(draw, {write(slopes), read(x), update(gen)},
            DrawAttributes{.a = lo, .b = hi});
  }
  Tensor out;
  {
    autograd::NoGrad guard;
    out = self * slopes;
  }
  if (autograd::needs_grad(self))
    autograd::record("RreluWithNoiseBackward0", out, {self}, {slopes},
                     [](autograd::Backward& b, const Tensor& g) -> Tensors {
                       return {flat_in(b, g * b.saved(0))};
                     });
  return out;
}

}  // namespace

HOTARU_OP(
    "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
    "bool training=False, Generator? generator=None) -> Tensor",
    rrelu);

}  // namespace hotaru
