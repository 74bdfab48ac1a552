#include "hotaru/ops/resample/grid_sample_grad.h"

#include <algorithm>
#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

/// Attributes of the kernels, and whether there are three dimensions.
struct Attributes : GridSampleAttributes {
  bool deep;
};

/// A position and how fast it moves with what it was made of.
struct Moving {
  Tensor at, slope;
};

Tensor like(const Tensor& t, double value) {
  return full_like(t, Scalar(value));
}

/// Clipped to [0, size - 1]; what lies on an edge or beyond stands still. NaN
/// comes to lie where the kernels have it.
Moving clipped(const Moving& p, int64_t size, bool deep) {
  const Scalar last(double(size - 1));
  const Tensor inside = logical_and(gt(p.at, Scalar(0)), lt(p.at, last));
  return {masked_fill(clamp(p.at, Scalar(0), last), isnan(p.at),
                      deep ? last : Scalar(0)),
          p.slope * inside};
}

/// Reflected at `low` and `high`.
Moving reflected(const Moving& p, double low, double high) {
  const double span = high - low;
  if (span == 0) return {zeros_like(p.at), zeros_like(p.at)};
  const Tensor away = p.at - Scalar(low), far = abs(away);
  const Tensor turns = floor(far / Scalar(span));
  const Tensor extra = far - turns * Scalar(span);
  const Tensor odd = ne(fmod(turns, like(far, 2)), Scalar(0));
  const Tensor sign = where(lt(away, Scalar(0)), like(far, -1), like(far, 1));
  const Tensor turn = where(odd, like(far, -1), like(far, 1));
  return {where(odd, Scalar(span) - extra, extra) + Scalar(low),
          p.slope * sign * turn};
}

Moving padded(const Moving& p, int64_t size, const Attributes& a) {
  if (a.padding == GridPadding::kZeros) return p;
  if (a.padding == GridPadding::kBorder) return clipped(p, size, a.deep);
  const double edge = a.align_corners ? 0 : -0.5;
  return clipped(reflected(p, edge, double(size - 1) - edge), size, a.deep);
}

/// Where a coordinate in [-1, 1] lies among the elements of a dimension.
Moving among(const Tensor& coordinate, int64_t size, const Attributes& a) {
  const double factor = double(a.align_corners ? size - 1 : size) / 2;
  const double shift = double(size - 1) / 2;
  return {coordinate * Scalar(factor) + Scalar(shift),
          like(coordinate, factor)};
}

/// One neighbour along a dimension: its index, whether it exists, its weight
/// and the weight's derivative by the position.
struct Tap {
  Tensor index, inside, weight, change;
};

/// Its polynomials: weights of neighbours at distances up to 1 and up to 2.
constexpr double kCubic = -0.75;
Tensor near_weight(const Tensor& d) {
  return ((kCubic + 2) * d - Scalar(kCubic + 3)) * d * d + Scalar(1);
}
Tensor near_change(const Tensor& d) {
  return (3 * (kCubic + 2) * d - Scalar(2 * (kCubic + 3))) * d;
}
Tensor far_weight(const Tensor& d) {
  return ((kCubic * d - Scalar(5 * kCubic)) * d + Scalar(8 * kCubic)) * d -
         Scalar(4 * kCubic);
}
Tensor far_change(const Tensor& d) {
  return (3 * kCubic * d - Scalar(10 * kCubic)) * d + Scalar(8 * kCubic);
}

Tap tap(const Tensor& place, int64_t size, const Tensor& weight,
        const Tensor& change) {
  const Scalar last(double(size - 1));
  const Tensor inside = logical_and(ge(place, Scalar(0)), le(place, last));
  const Tensor index =
      to(masked_fill(place, logical_not(inside), 0), DType::kInt64);
  return {index, inside, weight, change};
}

/// The neighbours along one dimension, the slope of the position, and which
/// points lie nowhere.
struct Line {
  std::vector<Tap> taps;
  Tensor slope, lost;
};

/// `coordinate` [N, P] of a dimension. Positions are piecewise linear in it:
/// they are computed without history and follow it by their slope.
Line line_of(const Tensor& coordinate, int64_t size, const Attributes& a) {
  Moving p;
  Tensor base;
  const bool cubic = a.mode == GridMode::kCubic;
  {
    autograd::NoGrad guard;
    p = among(coordinate, size, a);
    if (!cubic) p = padded(p, size, a);
    base = a.mode == GridMode::kNearest ? round(p.at) : floor(p.at);
  }
  Line out{{}, p.slope, isnan(p.at - base)};
  if (a.mode == GridMode::kNearest) {
    // One, with a history: second derivatives by the grid are zeros, not none.
    const Tensor all = ones(base.sizes(), {DType::kBool, base.device()});
    out.taps.push_back(
        tap(base, size, masked_fill(coordinate, all, 1), like(base, 0)));
    return out;
  }
  // An infinite coordinate's difference to itself is not a number.
  const Tensor moving =
      masked_fill(coordinate, logical_not(isfinite(coordinate)), 0);
  const Tensor t = masked_fill(p.at - base, out.lost, 0) +
                   p.slope * (moving - detach(moving));
  if (!cubic) {
    out.taps.push_back(tap(base, size, Scalar(1) - t, like(base, -1)));
    out.taps.push_back(tap(base + Scalar(1), size, t, like(base, 1)));
    return out;
  }
  const auto add = [&](int64_t step, const Tensor& weight,
                       const Tensor& change) {
    autograd::NoGrad guard;
    const Moving place = padded({base + Scalar(step), base}, size, a);
    out.taps.push_back(tap(round(place.at), size, weight, change));
  };
  const Tensor u = Scalar(1) - t;
  add(-1, far_weight(t + Scalar(1)), far_change(t + Scalar(1)));
  add(0, near_weight(t), near_change(t));
  add(1, near_weight(u), neg(near_change(u)));
  add(2, far_weight(u + Scalar(1)), neg(far_change(u + Scalar(1))));
  return out;
}

}  // namespace

Tensors grid_sample_gradients(const Tensor& g, const Tensor& x,
                              const Tensor& grid,
                              const GridSampleAttributes& attributes) {
  const Attributes a{attributes, x.dim() == 5};
  const int64_t dims = x.dim() - 2, n = x.size(0), channels = x.size(1);
  const Tensor points = flatten(grid, 1, -2);  // [N, P, d]
  const Tensor planes = flatten(x, 2, -1);     // [N, C, S]
  const Tensor grad = flatten(g, 2, -1);       // [N, C, P]
  const Dims wide{n, channels, points.size(1)};
  std::vector<Line> lines;
  for (int64_t d = 0; d < dims; ++d)
    lines.push_back(line_of(select(points, 2, dims - 1 - d), x.size(d + 2), a));
  Tensor lost = lines[0].lost;
  for (const Line& line : lines) lost = logical_or(lost, line.lost);
  const Tensor known = masked_fill(grad, unsqueeze(lost, 1), 0);
  Tensor gx = zeros_like(planes);
  Tensors moved(size_t(dims), zeros_like(select(points, 2, 0)));
  std::vector<size_t> at(size_t(dims), 0);
  for (bool more = true; more;) {
    Tensor index = zeros_like(lines[0].taps[0].index), inside, weight;
    for (size_t d = 0; d < at.size(); ++d) {
      const Tap& tap = lines[d].taps[at[d]];
      index = index * Scalar(x.sizes()[d + 2]) + tap.index;
      inside = d ? logical_and(inside, tap.inside) : tap.inside;
      weight = d ? weight * tap.weight : tap.weight;
    }
    const Tensor places = contiguous(expand(unsqueeze(index, 1), wide));
    const Tensor here = known * unsqueeze(inside, 1);
    gx = scatter_add(gx, 2, places, here * unsqueeze(weight, 1));
    // Elsewhere the first element is read, which may be infinite.
    const Tensor elements =
        masked_fill(gather(planes, 2, places),
                    unsqueeze(logical_or(lost, logical_not(inside)), 1), 0);
    const Tensor value = sum(here * elements, Dims{1}, false);  // [N, P]
    for (size_t k = 0; k < at.size(); ++k) {
      Tensor change = value * lines[k].slope;
      for (size_t d = 0; d < at.size(); ++d) {
        const Tap& tap = lines[d].taps[at[d]];
        change = change * (d == k ? tap.change : tap.weight);
      }
      moved[k] = moved[k] + change;
    }
    more = false;
    for (size_t d = 0; d < at.size() && !more; ++d) {
      more = ++at[d] < lines[d].taps.size();
      if (!more) at[d] = 0;
    }
  }
  if (!a.deep && a.mode != GridMode::kNearest)
    for (Tensor& t : moved)
      t = masked_fill(t, lost, std::numeric_limits<double>::quiet_NaN());
  std::reverse(moved.begin(), moved.end());
  return {reshape(gx, x.sizes()), reshape(stack(moved, -1), grid.sizes())};
}

}  // namespace hotaru
