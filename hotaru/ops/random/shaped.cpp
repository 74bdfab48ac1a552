// Draws of distributions whose parameters are tensors, in PyTorch's words and
// with its values for a generator state.
#include <cmath>
#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/random/random.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/generator.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using Gen = Generator*;

const Kernel& kGamma = kernel("standard_gamma");
const Kernel& kPoisson = kernel("poisson");
const Kernel& kBinomial = kernel("binomial");
const Kernel& kGammaSlope = kernel("standard_gamma_grad");
const Kernel& kDirichletSlope = kernel("dirichlet_grad");

/// Untracked and row-major, of these sizes.
Tensor spread(const Tensor& t, const Dims& sizes) {
  return contiguous(expand(detach(t), sizes));
}

/// A draw for each element of `parameters`, row-major.
Tensor draw_for(const Kernel& kernel, const Tensor& parameters, Gen generator) {
  const Tensor out =
      empty(parameters.sizes(), {parameters.dtype(), parameters.device()});
  if (out.numel() > 0)
    enqueue(kernel, {write(out), read(contiguous(detach(parameters))),
                     update(chosen(generator, parameters))});
  return out;
}

Tensor standard_gamma_grad(const Tensor& self, const Tensor& output) {
  check_found(output.dtype(), self.dtype());
  if (self.device().is_cpu() && itemsize(self.dtype()) < 4)
    refuse_dtype("_standard_gamma_grad_cpu", self.dtype());
  const Dims sizes = broadcast_shapes(self.sizes(), output.sizes());
  const Tensor out = empty(sizes, {self.dtype(), self.device()});
  if (out.numel() > 0)
    enqueue(kGammaSlope, {write(out), read(spread(self, sizes)),
                          read(spread(output, sizes))});
  refuse_gradient("StandardGammaGradBackward0",
                  "the derivative for '_standard_gamma_grad' is not "
                  "implemented.",
                  out, {self});
  return out;
}

/// Gamma(self, 1), with the implicit gradient. NaN where self is NaN or
/// negative.
Tensor standard_gamma(const Tensor& self, Gen generator) {
  const Tensor out = draw_for(kGamma, self, generator);
  if (autograd::needs_grad(self))
    autograd::record(
        "StandardGammaBackward0", out, {self},
        {self, autograd::saved_output(out)},
        [](autograd::Backward& b, const Tensor& g) -> Tensors {
          return {mul(g, standard_gamma_grad(b.saved(0), b.saved(1)))};
        });
  return out;
}

/// Dirichlet(self) along the last dimension: gamma draws in double over their
/// sum, kept inside of (0, 1).
Tensor sample_dirichlet(const Tensor& self, Gen generator) {
  if (!self.is_floating_point() || itemsize(self.dtype()) < 4)
    refuse_dtype("dirichlet", self.dtype());
  Tensor out;
  {
    autograd::NoGrad guard;
    const Tensor parts =
        draw_for(kGamma, to(detach(self), DType::kFloat64), generator);
    const Tensor shares = div(parts, sum(parts, Dims{-1}, true));
    const bool wide = self.dtype() == DType::kFloat64;
    const double least = wide ? std::numeric_limits<double>::min()
                              : double(std::numeric_limits<float>::min());
    const double most =
        wide ? std::nextafter(1.0, 0.0) : double(std::nextafter(1.0f, 0.0f));
    out = to(clamp(shares, Scalar(least), Scalar(most)), self.dtype());
  }
  refuse_gradient("_sample_dirichlet", out, {self});
  return out;
}

/// Counts with the means self, which are checked where they are drawn.
Tensor poisson(const Tensor& self, Gen generator) {
  const Tensor out = draw_for(kPoisson, self, generator);
  if (autograd::needs_grad(self))
    autograd::record("PoissonBackward0", out, {self}, {},
                     [](autograd::Backward&, const Tensor& g) -> Tensors {
                       return {zeros_like(g)};
                     });
  return out;
}

/// How many of `count` tries with probability `prob` succeed; broadcast.
Tensor binomial(const Tensor& count, const Tensor& prob, Gen generator) {
  for (const auto& [name, t] : {std::pair{"count", &count}, {"prob", &prob}})
    HOTARU_CHECK_AS(ValueError, t->is_floating_point(),
                    "binomial only supports floating-point dtypes for ", name,
                    ", got: ", scalar_type_name(t->dtype()));
  check_found(prob.dtype(), count.dtype());
  const Dims sizes = broadcast_shapes(count.sizes(), prob.sizes());
  const Tensor out = empty(sizes, {count.dtype(), count.device()});
  if (out.numel() > 0)
    enqueue(kBinomial,
            {write(out), read(spread(count, sizes)), read(spread(prob, sizes)),
             update(chosen(generator, count))});
  refuse_gradient("binomial", out, {count, prob});
  return out;
}

/// How an element x of a Dirichlet draw moves with its parameter, over 1 - x.
Tensor dirichlet_grad(const Tensor& x, const Tensor& alpha,
                      const Tensor& total) {
  check_found(alpha.dtype(), x.dtype());
  check_found(total.dtype(), x.dtype());
  const Dims sizes = broadcast_shapes(
      broadcast_shapes(x.sizes(), alpha.sizes()), total.sizes());
  const Tensor out = empty(sizes, {x.dtype(), x.device()});
  if (out.numel() > 0)
    enqueue(kDirichletSlope,
            {write(out), read(spread(x, sizes)), read(spread(alpha, sizes)),
             read(spread(total, sizes))});
  refuse_gradient("_dirichlet_grad", out, {x, alpha, total});
  return out;
}

HOTARU_OP("_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
          standard_gamma);
HOTARU_OP("_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
          standard_gamma_grad);
HOTARU_OP("_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
          sample_dirichlet);
HOTARU_OP("_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
          dirichlet_grad);
HOTARU_OP("poisson(Tensor self, Generator? generator=None) -> Tensor", poisson);
HOTARU_OP(
    "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
    binomial);

}  // namespace
}  // namespace hotaru
