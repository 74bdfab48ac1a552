// Schedulers, which change learning rates between steps.
#pragma once

#include "torch/optim/optimizer.h"

namespace torch::optim {

/// Derive and say the rates of the groups in get_lrs(). Borrows the optimizer.
class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~LRScheduler() = default;
  void step();

 protected:
  /// One rate for each group.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

}  // namespace torch::optim
