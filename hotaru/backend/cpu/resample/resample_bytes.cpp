#include "hotaru/backend/cpu/resample/resample_bytes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hotaru/backend/common/resample/cubic.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {
namespace {

/// For each output position of a dimension where its inputs begin, and their
/// weights in units of 2^-precision.
struct Axis {
  int64_t in = 0, out = 0;
  int precision = 0;
  std::vector<int64_t> start;
  std::vector<size_t> first;
  std::vector<int32_t> weights;
};

struct Filter {
  bool cubic, antialias;

  int64_t taps() const { return cubic ? 4 : 2; }
  double operator()(double x) const {
    if (cubic) return hotaru::cubic(x, antialias ? -0.5 : -0.75);
    return std::max(0.0, 1 - std::abs(x));
  }
};

/// The inputs that the filter, stretched as the picture shrinks, reaches.
void spread_taps(const Filter& filter, double scale, int64_t in, int64_t o,
                 int64_t& start, std::vector<double>& weights) {
  const double stretch = std::max(scale, 1.0);
  const double center = scale * (double(o) + 0.5);
  const double support = double(filter.taps()) * 0.5 * stretch;
  const auto edge = [&](double at) {
    return std::clamp<int64_t>(int64_t(at + 0.5), 0, in);
  };
  start = edge(center - support);
  double total = 0;
  for (int64_t i = start; i < edge(center + support); ++i) {
    weights.push_back(filter((double(i) - center + 0.5) / stretch));
    total += weights.back();
  }
  if (total != 0)
    for (double& w : weights) w /= total;
}

/// Two or four inputs around; those beyond an edge count for the edge.
void near_taps(const Filter& filter, double at, int64_t in, int64_t& start,
               std::vector<double>& weights) {
  const int64_t half = filter.taps() / 2;
  const int64_t below = std::min(int64_t(std::floor(at)), in - 1);
  const double part = std::clamp(at - double(below), 0.0, 1.0);
  const auto inside = [&](int64_t i) {
    return std::clamp<int64_t>(i, 0, in - 1);
  };
  start = inside(below - half + 1);
  weights.assign(size_t(inside(below + half) - start + 1), 0);
  for (int64_t k = 1 - half; k <= half; ++k)
    weights[size_t(inside(below + k) - start)] += filter(double(k) - part);
}

/// As many bits as leave the largest weight below 2^15.
int precision_of(const std::vector<double>& weights) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  int bits = 0;
  while (bits < 22 && int(0.5 + largest * double(1 << (bits + 1))) < (1 << 15))
    ++bits;
  return bits;
}

Axis make_axis(const ResampleAttributes& a, size_t d, int64_t in, int64_t out) {
  const Filter filter{a.mode == ResampleMode::kCubic, a.antialias};
  double scale = a.scales[d] > 0 ? 1.0 / a.scales[d] : double(in) / double(out);
  if (a.align_corners) scale = out > 1 ? double(in - 1) / double(out - 1) : 0.0;
  Axis axis{in, out, 0, {}, {0}, {}};
  std::vector<double> all, weights;
  for (int64_t o = 0; o < out; ++o) {
    int64_t start = 0;
    weights.clear();
    if (a.antialias) {
      spread_taps(filter, scale, in, o, start, weights);
    } else {
      double at = scale * (a.align_corners ? double(o) : double(o) + 0.5);
      if (!a.align_corners) at -= 0.5;
      near_taps(filter, filter.cubic ? at : std::max(at, 0.0), in, start,
                weights);
    }
    axis.start.push_back(start);
    all.insert(all.end(), weights.begin(), weights.end());
    axis.first.push_back(all.size());
  }
  if (all.empty()) return axis;
  axis.precision = precision_of(all);
  for (const double w : all)
    axis.weights.push_back(
        int32_t(w * double(1 << axis.precision) + (w < 0 ? -0.5 : 0.5)));
  return axis;
}

uint8_t rounded(const Axis& axis, int32_t sum) {
  return uint8_t(std::clamp<int32_t>(sum >> axis.precision, 0, 255));
}

/// Lines of axis.in bytes to lines of axis.out.
void along_rows(const Axis& axis, const uint8_t* x, int64_t lines, uint8_t* y) {
  const int32_t half = (1 << axis.precision) / 2;
  for (int64_t line = 0; line < lines; ++line, x += axis.in, y += axis.out)
    for (int64_t o = 0; o < axis.out; ++o) {
      const uint8_t* from = x + axis.start[size_t(o)];
      int32_t sum = half;
      for (size_t k = axis.first[size_t(o)]; k < axis.first[size_t(o) + 1]; ++k)
        sum += axis.weights[k] * int32_t(*from++);
      y[o] = rounded(axis, sum);
    }
}

/// The same for lines that lie side by side, `width` of them.
void along_columns(const Axis& axis, const uint8_t* x, int64_t width,
                   uint8_t* y) {
  std::vector<int32_t> sums(static_cast<size_t>(width));
  for (int64_t o = 0; o < axis.out; ++o, y += width) {
    std::fill(sums.begin(), sums.end(), (1 << axis.precision) / 2);
    const uint8_t* from = x + axis.start[size_t(o)] * width;
    for (size_t k = axis.first[size_t(o)]; k < axis.first[size_t(o) + 1];
         ++k, from += width)
      for (int64_t i = 0; i < width; ++i)
        sums[size_t(i)] += axis.weights[k] * int32_t(from[i]);
    for (int64_t i = 0; i < width; ++i) y[i] = rounded(axis, sums[size_t(i)]);
  }
}

}  // namespace

bool resamples_bytes(const ResampleAttributes& a) {
  return a.dims == 2 &&
         (a.mode == ResampleMode::kLinear || a.mode == ResampleMode::kCubic);
}

void resample_bytes(const ResampleAttributes& a, IntSpan in, IntSpan out,
                    const uint8_t* x, uint8_t* y) {
  const size_t n = in.size();
  const int64_t h = in[n - 2], w = in[n - 1], oh = out[n - 2], ow = out[n - 1];
  const Axis rows = make_axis(a, 0, h, oh), columns = make_axis(a, 1, w, ow);
  const int64_t planes = numel_of(in.first(n - 2));
  const int64_t grain = std::max<int64_t>(1, kGrainSize / (h * ow + oh * ow));
  parallel_for(0, planes, grain, [&](int64_t begin, int64_t end) {
    std::vector<uint8_t> middle(w == ow ? 0 : size_t(h * ow));
    for (int64_t p = begin; p < end; ++p) {
      const uint8_t* from = x + p * h * w;
      uint8_t* to = y + p * oh * ow;
      if (w != ow) {
        uint8_t* wide = h == oh ? to : middle.data();
        along_rows(columns, from, h, wide);
        from = wide;
      }
      if (h != oh)
        along_columns(rows, from, ow, to);
      else if (w == ow)
        std::copy_n(from, h * w, to);
    }
  });
}

}  // namespace hotaru::cpu
