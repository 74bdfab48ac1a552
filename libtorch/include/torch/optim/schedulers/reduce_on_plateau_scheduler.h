#pragma once

#include "torch/optim/optimizer.h"

namespace torch::optim {

/// Multiplies rates by `factor` when a metric has not improved for `patience`
/// steps.
class ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  /// Mode of `threshold`: a share of the best metric or a difference.
  enum ThresholdMode { rel, abs };

  /// `min_lrs`: no rate of a group gets below; one for each, or none.
  ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min,
                             float factor = 0.1, int patience = 10,
                             double threshold = 1e-4,
                             ThresholdMode threshold_mode = rel,
                             int cooldown = 0,
                             const std::vector<float>& min_lrs = {},
                             double eps = 1e-8, bool verbose = false);
  virtual ~ReduceLROnPlateauScheduler() = default;
  void step(float metric);

 private:
  bool better(float metric) const;
  void reduce();

  Optimizer& optimizer_;
  SchedulerMode mode_;
  float factor_;
  int patience_, cooldown_;
  double threshold_;
  ThresholdMode threshold_mode_;
  std::vector<float> min_lrs_;
  double eps_;
  float best_;
  int bad_steps_ = 0, cooling_ = 0;
};

}  // namespace torch::optim
