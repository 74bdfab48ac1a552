#include "hotaru/backend/cuda/conv/conv_products.h"

#include <algorithm>

#include "hotaru/backend/cuda/conv/conv_gather.h"
#include "hotaru/backend/cuda/matmul/multiply.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda {
namespace {

// Products of matrices that are launched one by one.
constexpr int64_t kMostGroups = 16;

/// The g-th group of an operand, or of the bias.
void* group_of(const Laid& a, int64_t g, int64_t item) {
  return a.at + g * a.group * item;
}

/// y of x, or x of y, where both have the same positions: planes times a
/// matrix, or rows of channels.
void multiply_channels(const Convolution& c) {
  const bool forward = c.kind == ConvKind::kForward;
  const ConvSizes& s = c.s;
  const Laid &from = forward ? c.x : c.y, &to = forward ? c.y : c.x;
  const int64_t rows = forward ? s.out : s.in, depth = forward ? s.in : s.out;
  const int64_t row = forward ? c.w.outer : c.w.channel,
                column = forward ? c.w.channel : c.w.outer;
  const int64_t item = c.item(), positions = volume(s.x);
  for (int64_t g = 0; g < s.groups; ++g) {
    MatmulParams m;
    m.k = uint32_t(depth);
    m.out = group_of(to, g, item);
    const void *weight = group_of(c.w, g, item), *x = group_of(from, g, item);
    if (c.channels_inner()) {
      m.m = uint32_t(s.samples * positions), m.n = uint32_t(rows);
      m.a = x, m.a_at = {0, s.groups * depth, 1};
      m.b = weight, m.b_at = {0, column, row};
      m.out_row = s.groups * rows;
      m.bias_at = {0, 0, 1};
    } else {
      m.batch = s.samples;
      m.m = uint32_t(rows), m.n = uint32_t(positions);
      m.a = weight, m.a_at = {0, row, column};
      m.b = x, m.b_at = {from.outer, from.channel, 1};
      m.out_row = to.channel, m.out_batch = to.outer;
      m.bias_at = {0, 1, 0};
    }
    if (c.bias)
      m.bias = static_cast<const char*>(c.bias) + g * rows * item, m.beta = 1;
    multiply(m, c.dtype);
  }
}

/// The same convolution of a picture with zeros around, beside which nothing
/// falls: for kernels with more positions than places have bits.
class Padded {
 public:
  explicit Padded(const Convolution& c);
  /// Tells whether offsets reach all of it.
  bool fits(const Convolution& c) const;
  void apply(Convolution& c);

 private:
  static bool pads_y(const Convolution& c) { return c.kind == ConvKind::kData; }
  static Extent extent_of(const Convolution& c) {
    const ConvSizes& s = c.s;
    return {s.samples, s.groups, pads_y(c) ? s.out : s.in,
            pads_y(c) ? s.y : s.x};
  }

  Sides before_, after_;
  std::optional<LaidCopy> copy_;
};

Padded::Padded(const Convolution& c) : before_(c.padding), after_(c.padding) {
  if (!pads_y(c)) return;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t reach = (c.s.w[d] - 1) * c.dilation[d] - c.padding[d];
    before_[d] = std::max<int64_t>(0, reach / c.stride[d]);
    const int64_t last = (c.s.x[d] - 1 + c.padding[d]) / c.stride[d];
    after_[d] = std::max<int64_t>(0, last - c.s.y[d] + 1);
  }
}

bool Padded::fits(const Convolution& c) const {
  const Extent e = extent_of(c);
  int64_t room = e.outer * e.groups * in_chunks(e.channels);
  for (size_t d = 0; d < 3 && room < 2 * kMostElements; ++d)
    room *= before_[d] + e.sides[d] + after_[d];
  return room < 2 * kMostElements;
}

void Padded::apply(Convolution& c) {
  const Extent e = extent_of(c);
  const int64_t room = c.item() == 2 ? in_chunks(e.channels) : e.channels;
  Laid& laid = pads_y(c) ? c.y : c.x;
  laid = copy_.emplace(laid, e, room, before_, after_, c.item()).laid();
  for (size_t d = 0; d < 3; ++d) {
    (pads_y(c) ? c.s.y : c.s.x)[d] += before_[d] + after_[d];
    c.padding[d] = pads_y(c) ? c.padding[d] + before_[d] * c.stride[d] : 0;
  }
}

}  // namespace

bool convolve_by_products(ConvKind kind, const Tensor& x, const Tensor& w,
                          const Tensor& y, const Tensor& bias,
                          const ConvAttributes& attributes) {
  Convolution c(kind, x, w, y, bias, attributes);
  if (!c.is_worth()) return false;
  if (c.is_matrix() && kind != ConvKind::kWeight && c.s.groups <= kMostGroups) {
    multiply_channels(c);
    return true;
  }
  Padded padded(c);
  if (!windows_fit(c)) {
    if (!padded.fits(c)) return false;
    padded.apply(c);
  }
  switch (kind) {
    case ConvKind::kForward:
      gather_forward(c);
      break;
    case ConvKind::kData:
      gather_data(c);
      break;
    default:
      gather_weight(c);
  }
  return true;
}

}  // namespace hotaru::cuda
