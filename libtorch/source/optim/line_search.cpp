#include "source/optim/line_search.h"

#include <algorithm>
#include <cmath>

namespace torch::optim {

namespace {

// A step must lower the function by this share of what its slope promises, and
// leave at most that share of the slope.
constexpr double kDecrease = 1e-4, kCurvature = 0.9;

/// Where the cubic through two points with their slopes is least, within
/// bounds; their middle if it has no minimum.
double cubic_minimum(LinePoint a, LinePoint b, double low, double high) {
  if (a.t > b.t) std::swap(a, b);
  const double d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double share = (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
  return std::min(std::max(b.t - (b.t - a.t) * share, low), high);
}

/// t away from the ends if it was near them before, too.
double inside(double t, double left, double right, bool* stalled) {
  const double margin = 0.1 * (right - left);
  const bool near = std::min(right - t, t - left) < margin;
  const bool leave = near && (*stalled || t >= right || t <= left);
  *stalled = near && !leave;
  if (!leave) return t;
  return std::abs(t - right) < std::abs(t - left) ? right - margin
                                                  : left + margin;
}

}  // namespace

bool StrongWolfe::too_high(const LinePoint& point) const {
  return point.f > start_.f + kDecrease * point.t * start_.slope;
}
bool StrongWolfe::flat(const LinePoint& point) const {
  return std::abs(point.slope) <= -kCurvature * start_.slope;
}

LinePoint StrongWolfe::search(double t) {
  auto [low, high] = bracket(t);
  return high ? zoom(std::move(low), std::move(*high)) : low;
}

std::pair<LinePoint, std::optional<LinePoint>> StrongWolfe::bracket(double t) {
  LinePoint before = start_, now = at(t);
  while (rounds_ < most_rounds_) {
    if (too_high(now) || (rounds_ > 1 && now.f >= before.f))
      return {before, now};
    if (flat(now)) return {now, std::nullopt};
    if (now.slope >= 0) return {before, now};
    t = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t),
                      now.t * 10);
    before = std::move(now);
    now = at(t);
    ++rounds_;
  }
  return {start_, now};
}

LinePoint StrongWolfe::zoom(LinePoint first, LinePoint second) {
  LinePoint* low = &first;
  LinePoint* high = &second;
  const auto order = [&] {
    if (low->f > high->f) std::swap(low, high);
  };
  order();
  bool stalled = false;
  while (rounds_ < most_rounds_) {
    if (std::abs(second.t - first.t) * reach_ < least_change_) break;
    const double left = std::min(first.t, second.t);
    const double right = std::max(first.t, second.t);
    const double t = inside(cubic_minimum(first, second, left, right), left,
                            right, &stalled);
    LinePoint point = at(t);
    ++rounds_;
    if (too_high(point) || point.f >= low->f) {
      *high = std::move(point);
      order();
      continue;
    }
    const bool done = flat(point);
    if (!done && point.slope * (high->t - low->t) >= 0) *high = *low;
    *low = std::move(point);
    if (done) break;
  }
  return *low;
}

}  // namespace torch::optim
