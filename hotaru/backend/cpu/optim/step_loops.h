// Optimizers' steps over runs of elements, for each instruction set.
#pragma once

#include "hotaru/backend/common/optim/fused_step.h"

namespace hotaru::cpu {

/// The tensors of one parameter; states that the rule does not use are null.
template <class A>
struct StepRun {
  A* param;
  const A* grad;
  A* state[kStepStates];
};

/// Elements [0, n) of a run.
void step_run(StepRule rule, const StepNumbers<float>& numbers,
              const StepRun<float>& run, int64_t n);
void step_run(StepRule rule, const StepNumbers<double>& numbers,
              const StepRun<double>& run, int64_t n);

}  // namespace hotaru::cpu
