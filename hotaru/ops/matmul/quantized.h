// Products of 8-bit integers that stand for real numbers,
//   real = (integer - zero point) * scale,
// as ONNX defines them. Integers are uint8 or int8, zero points of the same
// dtype or undefined (0), scales floats. Nothing of it has a gradient.
#pragma once

#include "hotaru/ops/boxing.h"

namespace hotaru {

/// How sums of products become integers again, as a whole there or not; or,
/// with a_scale, one number, and b_scale alone, floats: sums * (b_scale *
/// a_scale) + bias, [n] of float32 or undefined. The latter on the CPU only.
struct Requantization {
  Tensor a_scale, b_scale, y_scale, y_zero;
  Tensor bias = {};

  bool defined() const { return y_zero.defined(); }
  DType dtype() const {
    return defined()           ? y_zero.dtype()
           : a_scale.defined() ? DType::kFloat32
                               : DType::kInt32;
  }
};

/// Throws Error unless `t` is uint8 or int8 and `zero`, if there is one, of the
/// same dtype. `op` and `name` are for its text.
void check_quantized(const char* op, const char* name, const Tensor& t,
                     const Tensor& zero);
/// Throws Error unless scales are float32 and y has one zero point and scale.
void check_requantization(const char* op, const Requantization& by);

/// saturate(round(sums * scale) + y_zero), ties to even, where the device has
/// no kernel that does it at once.
Tensor requantize(const Tensor& sums, const Tensor& scale,
                  const Tensor& y_zero);

/// (a - a_zero) @ (b - b_zero) in int32, which wraps, or requantised. Shapes as
/// of matmul; a_zero and a's scale are one, one a row ([M] or [..., M, 1]),
/// those of b one or one a column ([N] or [..., 1, N]).
Tensor quantized_matmul(const Tensor& a, const Tensor& b, const Tensor& a_zero,
                        const Tensor& b_zero, const Requantization& by = {});

/// x [..., k], quantised in each call, times the transpose of weight [n, k]
/// int8, whose rows have scales and zero points: one, or n of them; plus bias
/// [n] or undefined. In 7 bits with reduce_range. No gradient.
Tensor linear_dynamic(const Tensor& x, const Tensor& weight,
                      const Tensor& scale, const Tensor& zero,
                      const Tensor& bias, bool reduce_range);

}  // namespace hotaru
