// A convolution as products see it, and what they go over.
#pragma once

#include "hotaru/backend/common/conv/conv.h"
#include "hotaru/backend/cuda/conv/laid.h"
#include "hotaru/backend/cuda/libraries/cudnn_conv.h"

namespace hotaru::cuda {

constexpr Sides kOnce{1, 1, 1};

/// A convolution, its operands and their sizes. One spatial position has no
/// dilation.
struct Convolution {
  ConvKind kind;
  DType dtype;
  ConvSizes s;
  Laid x, w, y;
  const void* bias;
  Sides stride{1, 1, 1}, padding{}, dilation{1, 1, 1};

  Convolution(ConvKind kind, const Tensor& x, const Tensor& w, const Tensor& y,
              const Tensor& bias, const ConvAttributes& a);

  bool channels_inner() const { return x.channel == 1; }
  int64_t item() const { return int64_t(itemsize(dtype)); }
  /// Tells whether it has enough rows, columns and summands to be made of
  /// products, in not too many launches.
  bool is_worth() const;
  /// True if positions of x and y are the same.
  bool is_matrix() const {
    return volume(s.w) == 1 && volume(stride) == 1 && padding == Sides{};
  }
};

/// Positions of a picture and of the kernel that a product goes over: position
/// i meets position t of the kernel at i * scale + shift + t * step of the
/// other picture, whose sides are `limit`.
struct Windows {
  Sides positions, taps, scale, shift, step, limit;

  /// True if nothing along a dimension falls beside the picture.
  bool inside(size_t d) const;
  /// True if places have a bit for all that may fall beside it.
  bool fit() const;
};
Windows windows_of(const Convolution& c);

/// The positions of x that leave a remainder when divided by the stride, and
/// those of the kernel and of y that they meet.
struct Remainder {
  Windows windows{};
  /// The first position of x, the first of the kernel that they meet, and how
  /// far the next ones of the kernel are.
  Sides first{}, first_tap{}, period{};

  Remainder(const Convolution& c, const Sides& remainder);
};

/// f(remainder) for all that the strides have.
template <class F>
void for_remainders(const Convolution& c, const F& f) {
  const Sides& s = c.stride;
  for (int64_t i = 0; i < volume(s); ++i)
    f(Remainder(c, {i / (s[1] * s[2]), i / s[2] % s[1], i % s[2]}));
}

/// Tells whether they fit(), of all products that it is made of.
bool windows_fit(const Convolution& c);

}  // namespace hotaru::cuda
