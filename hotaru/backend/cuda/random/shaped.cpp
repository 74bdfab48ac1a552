// Launching draws with parameters of their own for each element, and how they
// move with these; see params/random/shaped.h.
#include "hotaru/backend/cuda/params/random/shaped.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/backend/cuda/params/random/random.h"
#include "hotaru/backend/cuda/random/random.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

constexpr KernelTypes<FloatingTypes> kGammaTypes{0, "gamma_cuda"};
constexpr KernelTypes<FloatingTypes> kPoissonTypes{0, "poisson_cuda"};
constexpr KernelTypes<FloatingTypes> kBinomialTypes{0, "binomial_cuda"};
constexpr KernelTypes<FloatingTypes> kGammaSlopeTypes{
    0, "_standard_gamma_grad_cuda"};
constexpr KernelTypes<FloatingTypes> kDirichletSlopeTypes{
    0, "_dirichlet_grad_cuda"};

/// Parameters with the result and so many operands behind it.
ShapedParams params_of(const KernelCall& call, size_t operands) {
  ShapedParams p;
  p.out = device_address(call.tensor(0));
  p.numel = uint64_t(call.tensor(0).numel());
  const void** all[] = {&p.a, &p.b, &p.c};
  for (size_t k = 0; k < operands; ++k)
    *all[k] = device_address(call.tensor(k + 1));
  return p;
}

/// The generator is the operand behind those.
void draw(const Functions& functions, const KernelCall& call, size_t operands,
          const FailureText* failure = nullptr) {
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  ShapedParams p = params_of(call, operands);
  const uint32_t blocks = draw_blocks_here(out.numel());
  p.state = take(call.object<PhiloxGenerator>(operands + 1),
                 draws_of_shaped(p.numel, blocks));
  if (failure) p.errors = watch_errors(call, *failure);
  launch(functions.of(out.dtype()), {blocks}, kBlock, p);
}

/// Operands: result, shapes, generator.
void standard_gamma(const KernelCall& call) {
  static constinit const Functions functions("DrawGamma");
  draw(functions, call, 1);
}

/// Operands: result, means, generator.
void poisson(const KernelCall& call) {
  static constinit const Functions functions("DrawPoisson");
  static const FailureText kFailure{
      [](const FailureText&, int64_t, const int64_t*) {
        fail("invalid Poisson rate, expected rate to be non-negative");
      }};
  draw(functions, call, 1, &kFailure);
}

/// Operands: result, counts, probabilities, generator.
void binomial(const KernelCall& call) {
  static constinit const Functions functions("DrawBinomial");
  draw(functions, call, 2);
}

void slope(const Functions& functions, const KernelCall& call,
           size_t operands) {
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  launch(functions.of(out.dtype()), {blocks_for(out.numel(), kBlock)}, kBlock,
         params_of(call, operands));
}

/// Operands: result, shapes, draws.
void standard_gamma_grad(const KernelCall& call) {
  static constinit const Functions functions("GammaSlope");
  slope(functions, call, 2);
}

/// Operands: result, draws, shapes, their sums.
void dirichlet_grad(const KernelCall& call) {
  static constinit const Functions functions("DirichletSlope");
  slope(functions, call, 3);
}

HOTARU_KERNEL(kCUDA, "standard_gamma", standard_gamma,
              check_types<kGammaTypes>);
HOTARU_KERNEL(kCUDA, "poisson", poisson, check_types<kPoissonTypes>);
HOTARU_KERNEL(kCUDA, "binomial", binomial, check_types<kBinomialTypes>);
HOTARU_KERNEL(kCUDA, "standard_gamma_grad", standard_gamma_grad,
              check_types<kGammaSlopeTypes>);
HOTARU_KERNEL(kCUDA, "dirichlet_grad", dirichlet_grad,
              check_types<kDirichletSlopeTypes>);

}  // namespace
}  // namespace hotaru::cuda
