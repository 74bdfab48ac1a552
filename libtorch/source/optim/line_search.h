// Line search by the strong Wolfe conditions (Nocedal and Wright, algorithms
// 3.5 and 3.6).
#pragma once

#include <functional>
#include <optional>

#include "torch/types.h"

namespace torch::optim {

/// A place on the line: step, function, gradient, slope along the line.
struct LinePoint {
  double t = 0, f = 0;
  Tensor grad;
  double slope = 0;
};

/// One search along a direction.
class StrongWolfe {
 public:
  /// `at` gives the point of a step, `reach` is the direction's largest
  /// element: a bracket that moves parameters by less than `least_change` is
  /// left. `budget` evaluations may follow the first.
  StrongWolfe(std::function<LinePoint(double)> at, LinePoint start,
              double reach, double least_change, int64_t budget)
      : at_(std::move(at)),
        start_(std::move(start)),
        reach_(reach),
        least_change_(least_change),
        most_rounds_(budget) {}

  /// The step found, with t as the first to try.
  LinePoint search(double t);
  int64_t evaluations() const { return evaluations_; }

 private:
  LinePoint at(double t) {
    ++evaluations_;
    return at_(t);
  }
  bool too_high(const LinePoint& point) const;
  bool flat(const LinePoint& point) const;
  /// Two points around a good step, or that step alone.
  std::pair<LinePoint, std::optional<LinePoint>> bracket(double t);
  LinePoint zoom(LinePoint first, LinePoint second);

  std::function<LinePoint(double)> at_;
  LinePoint start_;
  double reach_, least_change_;
  int64_t most_rounds_, rounds_ = 0, evaluations_ = 0;
};

}  // namespace torch::optim
