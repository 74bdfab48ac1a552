#include "hotaru/backend/cpu/optim/step_loops.h"

#include "hotaru/backend/cpu/independent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hotaru/backend/cpu/optim/step_loops.cpp"
#include "hotaru/backend/cpu/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace hotaru::cpu::HWY_NAMESPACE {

template <StepRule kRule, class A>
HWY_ATTR void loop(const StepNumbers<A>& given, const StepRun<A>& run,
                   int64_t n) {
  constexpr int kStates = kRule == StepRule::kPlain     ? 0
                          : kRule == StepRule::kAdam    ? 2
                          : kRule == StepRule::kAmsgrad ? 3
                                                        : 1;
  // Copies, which no element can be.
  const StepNumbers<A> numbers = given;
  A* HWY_RESTRICT const param = run.param;
  const A* HWY_RESTRICT const grad = run.grad;
  A* HWY_RESTRICT const first = run.state[0];
  A* HWY_RESTRICT const second = run.state[1];
  A* HWY_RESTRICT const third = run.state[2];
  HOTARU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    A p = param[i], a = 0, b = 0, c = 0;
    if constexpr (kStates > 0) a = first[i];
    if constexpr (kStates > 1) b = second[i];
    if constexpr (kStates > 2) c = third[i];
    take_step<kRule>(numbers, p, grad[i], a, b, c);
    param[i] = p;
    if constexpr (kStates > 0) first[i] = a;
    if constexpr (kStates > 1) second[i] = b;
    if constexpr (kStates > 2) third[i] = c;
  }
}

template <class A>
HWY_ATTR void any_loop(StepRule rule, const StepNumbers<A>& numbers,
                       const StepRun<A>& run, int64_t n) {
  switch (rule) {
    case StepRule::kPlain:
      return loop<StepRule::kPlain>(numbers, run, n);
    case StepRule::kMomentum:
      return loop<StepRule::kMomentum>(numbers, run, n);
    case StepRule::kAdam:
      return loop<StepRule::kAdam>(numbers, run, n);
    case StepRule::kAmsgrad:
      return loop<StepRule::kAmsgrad>(numbers, run, n);
    case StepRule::kAdagrad:
      return loop<StepRule::kAdagrad>(numbers, run, n);
  }
}

void loop_float(StepRule rule, const StepNumbers<float>& numbers,
                const StepRun<float>& run, int64_t n) {
  any_loop(rule, numbers, run, n);
}
void loop_double(StepRule rule, const StepNumbers<double>& numbers,
                 const StepRun<double>& run, int64_t n) {
  any_loop(rule, numbers, run, n);
}

}  // namespace hotaru::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hotaru::cpu {

HWY_EXPORT(loop_float);
void step_run(StepRule rule, const StepNumbers<float>& numbers,
              const StepRun<float>& run, int64_t n) {
  HWY_DYNAMIC_DISPATCH(loop_float)(rule, numbers, run, n);
}
HWY_EXPORT(loop_double);
void step_run(StepRule rule, const StepNumbers<double>& numbers,
              const StepRun<double>& run, int64_t n) {
  HWY_DYNAMIC_DISPATCH(loop_double)(rule, numbers, run, n);
}

}  // namespace hotaru::cpu
#endif
