#include <limits>

#include "torch/optim/schedulers/lr_scheduler.h"
#include "torch/optim/schedulers/reduce_on_plateau_scheduler.h"
#include "torch/optim/schedulers/step_lr.h"

namespace torch::optim {

void LRScheduler::step() {
  const std::vector<double> rates = get_lrs();
  auto& groups = optimizer_.param_groups();
  TORCH_CHECK(rates.size() == groups.size(),
              "Number of learning rates not equal to the number of param "
              "groups\nNumber of learning rates given: ",
              rates.size(), "\nNumber of param groups: ", groups.size());
  for (size_t i = 0; i < rates.size(); ++i)
    groups[i].options().set_lr(rates[i]);
  ++step_count_;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer_.param_groups())
    rates.push_back(group.options().get_lr());
  return rates;
}

std::vector<double> StepLR::get_lrs() {
  std::vector<double> rates = get_current_lrs();
  if (step_count_ != 0 && step_count_ % step_size_ == 0)
    for (double& rate : rates) rate *= gamma_;
  return rates;
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(
    Optimizer& optimizer, SchedulerMode mode, float factor, int patience,
    double threshold, ThresholdMode threshold_mode, int cooldown,
    const std::vector<float>& min_lrs, double eps, bool)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      cooldown_(cooldown),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      min_lrs_(min_lrs),
      eps_(eps),
      best_(mode == min ? std::numeric_limits<float>::infinity()
                        : -std::numeric_limits<float>::infinity()) {
  TORCH_CHECK(factor < 1.0, "Factor should be < 1.0.");
  const size_t groups = optimizer.param_groups().size();
  if (min_lrs_.empty()) min_lrs_.assign(groups, 0);
  TORCH_CHECK(min_lrs_.size() == groups,
              "Number of learning rates not equal to the number of param "
              "groups\nNumber of learning rates given: ",
              min_lrs_.size(), "\nNumber of param groups: ", groups);
}

bool ReduceLROnPlateauScheduler::better(float metric) const {
  const double sign = mode_ == min ? -1 : 1;
  const double bound = threshold_mode_ == rel ? best_ * (1 + sign * threshold_)
                                              : best_ + sign * threshold_;
  return mode_ == min ? metric < bound : metric > bound;
}

void ReduceLROnPlateauScheduler::reduce() {
  auto& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const double before = groups[i].options().get_lr();
    const double rate = std::max(before * double(factor_), double(min_lrs_[i]));
    if (before - rate > eps_) groups[i].options().set_lr(rate);
  }
}

void ReduceLROnPlateauScheduler::step(float metric) {
  if (better(metric)) {
    best_ = metric;
    bad_steps_ = 0;
  } else {
    ++bad_steps_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_steps_ = 0;
  }
  if (bad_steps_ <= patience_) return;
  reduce();
  cooling_ = cooldown_;
  bad_steps_ = 0;
}

}  // namespace torch::optim
