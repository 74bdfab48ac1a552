// Steps of optimizers. See params/optim.h for how they are launched.
#include "hotaru/backend/cuda/device/kernel.h"
#include "hotaru/backend/cuda/params/optim.h"
#include "hotaru/backend/cuda/params/types.h"

namespace hotaru::cuda {
namespace {

template <StepRule kRule, class T>
__device__ void step_stretch(const StepTensor& t,
                             const StepNumbers<OpMath<T>>& numbers,
                             OpMath<T> scale, bool scaled, uint64_t begin,
                             uint64_t end) {
  using A = OpMath<T>;
  constexpr int kStates = kRule == StepRule::kPlain     ? 0
                          : kRule == StepRule::kAdam    ? 2
                          : kRule == StepRule::kAmsgrad ? 3
                                                        : 1;
  auto* const param = static_cast<Stored<T>*>(t.param);
  auto* const grad = static_cast<Stored<T>*>(t.grad);
  HOTARU_NO_UNROLL
  for (uint64_t i = begin + threadIdx.x; i < end; i += kBlock) {
    A p = widen<T>(param[i]), g = widen<T>(grad[i]), state[kStepStates] = {};
    HOTARU_UNROLL
    for (int k = 0; k < kStates; ++k)
      state[k] = widen<T>(static_cast<const Stored<T>*>(t.state[k])[i]);
    if (scaled) grad[i] = narrow<T>(g /= scale);
    take_step<kRule>(numbers, p, g, state[0], state[1], state[2]);
    param[i] = narrow<T>(p);
    HOTARU_UNROLL
    for (int k = 0; k < kStates; ++k)
      static_cast<Stored<T>*>(t.state[k])[i] = narrow<T>(state[k]);
  }
}

template <class T>
__device__ void fused_step(const FusedStepParams& p) {
  using A = OpMath<T>;
  if (p.found_inf && *p.found_inf != 0) return;
  const StepTensor& t = p.tensors[p.tensor[blockIdx.x]];
  StepOptions options = p.numbers ? *p.numbers : p.a.options;
  if (p.rate) options.rate = double(*p.rate);
  if (p.wide_rate) options.rate = *p.wide_rate;
  const auto numbers =
      step_numbers<A>(p.a, options, t.step ? double(*t.step) : p.a.step);
  const bool scaled = p.grad_scale != nullptr;
  const A scale = scaled ? A(*p.grad_scale) : A(1);
  const uint64_t begin = p.stretch[blockIdx.x] * kStepItems;
  const uint64_t end =
      begin + kStepItems < t.numel ? begin + kStepItems : t.numel;
  switch (p.a.rule) {
    case StepRule::kPlain:
      return step_stretch<StepRule::kPlain, T>(t, numbers, scale, scaled, begin,
                                               end);
    case StepRule::kMomentum:
      return step_stretch<StepRule::kMomentum, T>(t, numbers, scale, scaled,
                                                  begin, end);
    case StepRule::kAdam:
      return step_stretch<StepRule::kAdam, T>(t, numbers, scale, scaled, begin,
                                              end);
    case StepRule::kAmsgrad:
      return step_stretch<StepRule::kAmsgrad, T>(t, numbers, scale, scaled,
                                                 begin, end);
    case StepRule::kAdagrad:
      return step_stretch<StepRule::kAdagrad, T>(t, numbers, scale, scaled,
                                                 begin, end);
  }
}

}  // namespace

#define HOTARU_FUSED_STEP(unused, T, suffix) \
  HOTARU_CUDA_KERNEL(FusedStep_##suffix, FusedStepParams, fused_step<T>)
HOTARU_DEVICE_TYPES_FloatingTypes(HOTARU_FUSED_STEP, )

}  // namespace hotaru::cuda
