#include "hotaru/backend/common/optim/fused_step.h"

#include <algorithm>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/optim/step_loops.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<FloatingTypes> kTypes{0, "fused_step"};

/// The number in a tensor of one element, or what stands for it.
double number_in(const Tensor& t, double otherwise) {
  return t.defined() ? double(*t.data<float>()) : otherwise;
}

template <class T>
struct Parameter {
  T* param;
  T* grad;
  T* state[kStepStates];
  int64_t numel;
};

template <class T>
Parameter<T> parameter_of(const KernelCall& call, size_t first) {
  Parameter<T> out{call.tensor(first).data<T>(),
                   call.tensor(first + 1).data<T>(),
                   {},
                   call.tensor(first).numel()};
  for (size_t k = 0; k < kStepStates; ++k)
    if (const Tensor& t = call.tensor(first + 2 + k); t.defined())
      out.state[k] = t.data<T>();
  return out;
}

template <class T>
void step_elements(const Parameter<T>& x, StepRule rule,
                   const StepNumbers<OpMath<T>>& numbers, int64_t begin,
                   int64_t end) {
  if constexpr (!kIsReduced<T>) {
    StepRun<T> run{x.param + begin, x.grad + begin, {}};
    for (int k = 0; k < kStepStates; ++k)
      run.state[k] = x.state[k] ? x.state[k] + begin : nullptr;
    step_run(rule, numbers, run, end - begin);
  } else {
    constexpr int64_t kRun = 256;
    float wide[2 + kStepStates][kRun];
    for (int64_t i = begin; i < end; i += kRun) {
      const int64_t n = std::min(kRun, end - i);
      StepRun<float> run{wide[0], wide[1], {}};
      widen(x.param + i, wide[0], n);
      widen(x.grad + i, wide[1], n);
      for (int k = 0; k < kStepStates; ++k) {
        if (!x.state[k]) continue;
        run.state[k] = wide[2 + k];
        widen(x.state[k] + i, wide[2 + k], n);
      }
      step_run(rule, numbers, run, n);
      narrow(wide[0], x.param + i, n);
      for (int k = 0; k < kStepStates; ++k)
        if (x.state[k]) narrow(wide[2 + k], x.state[k] + i, n);
    }
  }
}

template <class T>
void unscale(T* grad, int64_t begin, int64_t end, OpMath<T> scale) {
  for (int64_t i = begin; i < end; ++i) grad[i] = T(OpMath<T>(grad[i]) / scale);
}

void fused_step(const KernelCall& call) {
  const auto& a = call.attributes<FusedStep>();
  const size_t last = call.operands().size() - kStepExtras;
  const Tensor &scale = call.tensor(last), &found = call.tensor(last + 1);
  if (number_in(found, 0) != 0) return;
  const double rate = number_in(call.tensor(last + 2), a.rate);
  kTypes.visit(call, [&]<class T>() {
    using A = OpMath<T>;
    for (size_t k = 0; k < last; k += kStepOperands) {
      const auto x = parameter_of<T>(call, k);
      const double step = number_in(call.tensor(k + kStepOperands - 1), a.step);
      const auto numbers = step_numbers<A>(a, rate, step);
      parallel_for(0, x.numel, kGrainSize, [&](int64_t begin, int64_t end) {
        if (scale.defined())
          unscale(x.grad, begin, end, A(*scale.data<float>()));
        step_elements(x, a.rule, numbers, begin, end);
      });
    }
  });
}

HOTARU_KERNEL(kCPU, "fused_step", fused_step, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
