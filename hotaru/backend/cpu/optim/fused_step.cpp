#include "hotaru/backend/common/optim/fused_step.h"

#include <algorithm>
#include <span>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/optim/step_loops.h"
#include "hotaru/backend/cpu/simd/reduced_simd.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

constexpr KernelTypes<FloatingTypes> kTypes{0, "fused_step"};

/// The number in a tensor of one element, or what stands for it.
double number_in(const Tensor& t, double otherwise) {
  if (!t.defined()) return otherwise;
  return t.dtype() == DType::kFloat64 ? *t.data<double>()
                                      : double(*t.data<float>());
}

StepOptions options_of(const KernelCall& call, size_t extras) {
  StepOptions out = call.attributes<FusedStep>().options;
  if (const Tensor& t = call.tensor(extras + 3); t.defined()) {
    const double* n = t.data<double>();
    out = {n[0], n[1], n[2], n[3], n[4], n[5]};
  }
  out.rate = number_in(call.tensor(extras + 2), out.rate);
  return out;
}

template <class T>
struct Parameter {
  T* param;
  T* grad;
  T* state[kStepStates];
  StepNumbers<OpMath<T>> numbers;
  /// Where its elements end, those of all parameters before it counted.
  int64_t end;
};

template <class T>
Parameter<T> parameter_of(const KernelCall& call, size_t first,
                          const StepOptions& options, int64_t begin) {
  const auto& a = call.attributes<FusedStep>();
  const double step = number_in(call.tensor(first + kStepOperands - 1), a.step);
  Parameter<T> out{call.tensor(first).data<T>(),
                   call.tensor(first + 1).data<T>(),
                   {},
                   step_numbers<OpMath<T>>(a, options, step),
                   begin + call.tensor(first).numel()};
  for (size_t k = 0; k < kStepStates; ++k)
    if (const Tensor& t = call.tensor(first + 2 + k); t.defined())
      out.state[k] = t.data<T>();
  return out;
}

template <class T>
void step_elements(const Parameter<T>& x, StepRule rule, int64_t begin,
                   int64_t end) {
  if constexpr (!kIsReduced<T>) {
    StepRun<T> run{x.param + begin, x.grad + begin, {}};
    for (int k = 0; k < kStepStates; ++k)
      run.state[k] = x.state[k] ? x.state[k] + begin : nullptr;
    step_run(rule, x.numbers, run, end - begin);
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
      step_run(rule, x.numbers, run, n);
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

/// Elements [begin, end) of all parameters one behind the other.
template <class T>
void step_stretch(std::span<const Parameter<T>> parameters, StepRule rule,
                  const Tensor& scale, int64_t begin, int64_t end) {
  auto x = std::upper_bound(
      parameters.begin(), parameters.end(), begin,
      [](int64_t at, const Parameter<T>& p) { return at < p.end; });
  for (int64_t first = x == parameters.begin() ? 0 : x[-1].end; begin < end;
       first = (x++)->end) {
    const int64_t stop = std::min(end, x->end) - first;
    if (scale.defined())
      unscale(x->grad, begin - first, stop, OpMath<T>(*scale.data<float>()));
    step_elements(*x, rule, begin - first, stop);
    begin = first + stop;
  }
}

void fused_step(const KernelCall& call) {
  const StepRule rule = call.attributes<FusedStep>().rule;
  const size_t extras = call.operands().size() - kStepExtras;
  const Tensor &scale = call.tensor(extras), &found = call.tensor(extras + 1);
  if (number_in(found, 0) != 0) return;
  const StepOptions options = options_of(call, extras);
  kTypes.visit(call, [&]<class T>() {
    std::vector<Parameter<T>> parameters;
    parameters.reserve(extras / kStepOperands);
    int64_t numel = 0;
    for (size_t k = 0; k < extras; k += kStepOperands) {
      parameters.push_back(parameter_of<T>(call, k, options, numel));
      numel = parameters.back().end;
    }
    parallel_for(0, numel, kGrainSize, [&](int64_t begin, int64_t end) {
      step_stretch<T>(parameters, rule, scale, begin, end);
    });
  });
}

HOTARU_KERNEL(kCPU, "fused_step", fused_step, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
