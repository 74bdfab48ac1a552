#include "hotaru/backend/cuda/conv/convolution.h"

#include <algorithm>
#include <numeric>

#include "hotaru/backend/cuda/params/conv/gather.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {
namespace {

// Below these a thread for each output has less to do than a tile.
constexpr int64_t kLeastRows = 8, kLeastDepth = 16, kLeastColumns = 16;
// Gradients of x are one product for each remainder of a stride.
constexpr int64_t kMostRemainders = 64;

Sides sides_of(IntSpan sizes) {
  Sides out = kOnce;
  for (size_t d = 2; d < sizes.size(); ++d)
    out[d + 3 - sizes.size()] = sizes[d];
  return out;
}

/// Remainders of all dimensions, or some number above kMostRemainders.
int64_t remainders(const Sides& stride) {
  int64_t out = 1;
  for (const int64_t side : stride) out *= std::min(side, kMostRemainders + 1);
  return out;
}

}  // namespace

Convolution::Convolution(ConvKind kind, const Tensor& x_, const Tensor& w_,
                         const Tensor& y_, const Tensor& bias_,
                         const ConvAttributes& a)
    : kind(kind),
      dtype(x_.dtype()),
      s{x_.size(0),
        a.groups,
        x_.size(1) / a.groups,
        y_.size(1) / a.groups,
        sides_of(x_.sizes()),
        sides_of(y_.sizes()),
        sides_of(w_.sizes())},
      x(picture_of(x_, s.in)),
      w(weight_of(w_, s.out)),
      y(picture_of(y_, s.out)),
      bias(bias_.defined() ? device_address(bias_) : nullptr) {
  const size_t dims = a.stride.size();
  for (size_t d = 0; d < dims; ++d) {
    stride[d + 3 - dims] = a.stride[d];
    padding[d + 3 - dims] = a.padding[d];
    // Dilation means nothing for one position, and may be any number.
    if (s.w[d + 3 - dims] > 1) dilation[d + 3 - dims] = a.dilation[d];
  }
}

bool Convolution::is_worth() const {
  const int64_t taps = volume(s.w);
  const int64_t xs = s.samples * volume(s.x), ys = s.samples * volume(s.y);
  const auto worth = [](int64_t rows, int64_t depth, int64_t columns) {
    return rows >= kLeastRows && depth >= kLeastDepth &&
           columns >= kLeastColumns;
  };
  // Elements that fill up chunks may be counted, too.
  const int64_t most =
      s.groups * std::max({in_chunks(s.in) * xs, in_chunks(s.out) * ys,
                           in_chunks(s.in) * in_chunks(s.out) * taps});
  if (most >= 2 * kMostElements) return false;
  switch (kind) {
    case ConvKind::kForward:
      return worth(s.out, s.in * taps, ys);
    case ConvKind::kData:
      return worth(s.in, s.out * taps, xs) &&
             remainders(stride) <= kMostRemainders;
    default:
      return worth(s.out, ys, s.in * taps);
  }
}

bool Windows::inside(size_t d) const {
  const int64_t reach = (taps[d] - 1) * step[d];
  const int64_t last = (positions[d] - 1) * scale[d] + shift[d];
  return shift[d] + std::min<int64_t>(reach, 0) >= 0 &&
         last + std::max<int64_t>(reach, 0) < limit[d];
}

bool Windows::fit() const {
  int64_t bits = 0;
  for (size_t d = 0; d < 3; ++d) bits += inside(d) ? 0 : taps[d];
  return bits <= kPlaceBits;
}

Windows windows_of(const Convolution& c) {
  Windows w{c.s.y, c.s.w, c.stride, {}, c.dilation, c.s.x};
  for (size_t d = 0; d < 3; ++d) w.shift[d] = -c.padding[d];
  return w;
}

Remainder::Remainder(const Convolution& c, const Sides& remainder)
    : first(remainder) {
  for (size_t d = 0; d < 3; ++d) {
    const int64_t stride = c.stride[d], dilation = c.dilation[d];
    const int64_t common = std::gcd(stride, dilation);
    period[d] = stride / common;
    const int64_t from = first[d] + c.padding[d];
    int64_t tap = 0;
    while (tap < period[d] && (from - tap * dilation) % stride != 0) ++tap;
    const bool meets = tap < period[d] && tap < c.s.w[d];
    first_tap[d] = meets ? tap : 0;
    windows.taps[d] = meets ? (c.s.w[d] - tap - 1) / period[d] + 1 : 0;
    windows.positions[d] =
        c.s.x[d] > first[d] ? (c.s.x[d] - first[d] - 1) / stride + 1 : 0;
    windows.scale[d] = 1;
    windows.shift[d] = meets ? (from - tap * dilation) / stride : 0;
    windows.step[d] = -dilation / common;
    windows.limit[d] = c.s.y[d];
  }
}

bool windows_fit(const Convolution& c) {
  if (c.kind != ConvKind::kData) return windows_of(c).fit();
  bool out = true;
  for_remainders(c, [&](const Remainder& r) { out &= r.windows.fit(); });
  return out;
}

}  // namespace hotaru::cuda
