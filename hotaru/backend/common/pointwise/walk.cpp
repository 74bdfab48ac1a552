#include "hotaru/backend/common/pointwise/walk.h"

namespace hotaru {

std::optional<Walk> Walk::of(const Tensor& whole, const Tensor& view) {
  if (whole.storage().get() != view.storage().get() ||
      whole.storage_offset() != view.storage_offset() ||
      whole.dtype() != view.dtype() || whole.numel() != view.numel())
    return {};
  // Rest of each of the view's dimensions: steps to its last place.
  std::vector<int64_t> left;
  for (const int64_t size : view.sizes()) left.push_back(size - 1);
  Walk walk;
  for (size_t i = 0; i < size_t(whole.dim()); ++i) {
    Step& step = walk.steps_.emplace_back();
    const int64_t last = whole.sizes()[i] - 1, stride = whole.strides()[i];
    if (last <= 0) continue;
    size_t best = left.size();
    for (size_t d = 0; d < left.size(); ++d) {
      const int64_t own = view.strides()[d];
      if (left[d] == 0 || own <= 0 || stride % own != 0 ||
          last * (stride / own) > left[d])
        continue;
      if (best == left.size() || own > view.strides()[best]) best = d;
    }
    if (best == left.size()) return {};
    step.dim = int64_t(best) - view.dim();
    step.factor = stride / view.strides()[best];
    left[best] -= last * step.factor;
  }
  return walk;
}

std::vector<int64_t> Walk::strides(const Tensor& t) const {
  std::vector<int64_t> out;
  for (const Step& step : steps_) {
    const int64_t d = t.dim() + step.dim;
    const bool stays = step.dim == 0 || d < 0 || t.sizes()[size_t(d)] == 1;
    out.push_back(stays ? 0 : t.strides()[size_t(d)] * step.factor);
  }
  return out;
}

}  // namespace hotaru
