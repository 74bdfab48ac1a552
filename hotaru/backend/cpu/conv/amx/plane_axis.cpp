#include "hotaru/backend/cpu/conv/amx/plane_axis.h"

#include <algorithm>

namespace hotaru::cpu {
namespace {

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

}  // namespace

int64_t PlaneAxis::lead() const {
  int64_t least = grid + halo;
  for (const int64_t pixel : first)
    least = std::min(least, pixel < 0 ? (stride - 1 - pixel) / stride : 0);
  return least;
}

int64_t PlaneAxis::pitch() const {
  const int64_t all = grid + halo;
  if (first.size() > 1) return all;
  const int64_t end = floor_div(in - 1 - first[0], stride) + 1;
  return std::max({int64_t{1}, grid, all - lead(), std::min(all, end)});
}

int64_t PlaneAxis::outputs(int64_t of_class, int64_t begin, int64_t end) const {
  const int64_t all = floor_div(out - 1 - of_class, step) + 1;
  return std::max<int64_t>(0, std::min(end, all) - begin);
}

PlaneAxis PlaneAxis::forward(const ConvGeometry& g, size_t d) {
  PlaneAxis axis;
  axis.in = g.in[d];
  axis.out = g.out()[d];
  axis.stride = g.stride[d];
  axis.grid = axis.out;
  std::vector<int64_t> rests;
  axis.taps.resize(1);
  for (int64_t k = 0; k < g.kernel[d]; ++k) {
    const int64_t at = k * g.dilation[d], rest = at % axis.stride;
    const auto known = std::find(rests.begin(), rests.end(), rest);
    const int64_t shift = at / axis.stride;
    axis.taps[0].push_back({k, known - rests.begin(), shift});
    axis.halo = std::max(axis.halo, shift);
    if (known != rests.end()) continue;
    rests.push_back(rest);
    axis.first.push_back(rest - g.padding[d]);
  }
  return axis;
}

PlaneAxis PlaneAxis::data(const ConvGeometry& g, size_t d) {
  PlaneAxis axis;
  axis.in = g.out()[d];
  axis.out = g.in[d];
  axis.step = g.stride[d];
  axis.grid = (axis.out + axis.step - 1) / axis.step;
  axis.taps.resize(size_t(axis.step));
  bool any = false;
  int64_t least = 0, most = 0;
  for (int64_t r = 0; r < axis.step; ++r)
    for (int64_t k = 0; k < g.kernel[d]; ++k) {
      const int64_t from = r + g.padding[d] - k * g.dilation[d];
      const int64_t at = floor_div(from, axis.step);
      if (at * axis.step != from) continue;
      axis.taps[size_t(r)].push_back({k, 0, at});
      least = any ? std::min(least, at) : at;
      most = any ? std::max(most, at) : at;
      any = true;
    }
  for (auto& taps : axis.taps)
    for (Tap& tap : taps) tap.shift -= least;
  axis.halo = most - least;
  axis.first = {least};
  return axis;
}

}  // namespace hotaru::cpu
