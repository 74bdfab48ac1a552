#include "hotaru/ops/pointwise/complex_elementary.h"

#include <limits>
#include <numbers>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/pointwise/pointwise.h"

namespace hotaru::elementary {

using autograd::NoGrad;

namespace {

/// Part by part: as a product of complex numbers, infinity times the factor's
/// imaginary part would be NaN.
Tensor scaled(const Tensor& z, double factor) {
  return complex(real(z) * factor, imag(z) * factor);
}

}  // namespace

Tensor complex_exp2(const Tensor& z) {
  const NoGrad guard;
  return exp(scaled(z, std::numbers::ln2));
}

Tensor complex_log2(const Tensor& z) {
  const NoGrad guard;
  return scaled(log(z), std::numbers::log2e);
}

Tensor complex_expm1(const Tensor& z) {
  const NoGrad guard;
  const Tensor x = real(z), y = imag(z), half = sin(y * 0.5);
  // 1 - cos(y) = 2 sin(y / 2)^2 does not cancel.
  return complex(expm1(x) * cos(y) - half * half * 2, exp(x) * sin(y));
}

Tensor complex_log1p(const Tensor& z) {
  const NoGrad guard;
  const Tensor x = real(z), y = imag(z), near = x * (x + 2) + y * y;
  const Tensor length = where(lt(abs(near), Scalar(0.5)), log1p(near) * 0.5,
                              log(hypot(x + 1, y)));
  // The sum has lost the sign of a negative zero.
  const Tensor zero = logical_and(eq(x, Scalar(0)), eq(y, Scalar(0)));
  return complex(where(zero, x, length), atan2(y, x + 1));
}

Tensor complex_logaddexp(const Tensor& x, const Tensor& y) {
  const NoGrad guard;
  const Tensor first = lt(real(x), real(y));
  const Tensor low = where(first, x, y), high = where(first, y, x);
  const Tensor below = real(low);
  const Tensor sum = high + complex_log1p(exp(low - high));
  const Tensor ends =
      where(lt(below, Scalar(0)), low, log(exp(low) + exp(high)));
  const Tensor out =
      where(logical_and(isinf(below), eq(below, real(high))), ends, sum);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return masked_fill(out, logical_or(isnan(x), isnan(y)),
                     Scalar(std::complex<double>(kNan, kNan)));
}

}  // namespace hotaru::elementary
