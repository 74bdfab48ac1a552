// Matrix products with what follows them, as graphs make them (fuse_linear).
#pragma once

#include "hotaru/backend/common/matmul/matmul.h"

namespace hotaru {

enum class Activation : uint8_t {
  kNone,
  kRelu,
  kSigmoid,
  kTanh,
  kSilu,
  kGelu,
  kGeluTanh
};

/// Products of float, double or, with sums in float, of 16-bit floats. Operands
/// of "linear": write out [batch, m, n],
/// read a, read b, read bias [n], read scale (one number), read residual [m,
/// n]; the last three may be undefined:
///   out[i] = activation(alpha * scale * a[i] @ b[i] + bias + residual)
/// out is row-major unless out_row, the distance of its rows, is not 0; then
/// its matrices are out_batch apart. bias and the residual's rows are
/// contiguous, residual_stride elements apart, and batch is 1 where there is
/// one. It may be out itself; else out overlaps nothing. With `packed`, batch
/// is 1, b is what "pack_matrix" wrote, and its strides mean nothing; it may be
/// bfloat16 where the rest is float32. bf16 as in MatmulAttributes.
struct LinearAttributes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  MatrixStrides a, b;
  Scalar alpha = 1;
  int64_t out_batch = 0, out_row = 0;
  int64_t residual_stride = 0;
  Activation activation = Activation::kNone;
  bool packed = false, bf16 = false;
};

/// Operands of "pack_matrix": write packed [packed_size], read b (k x n): the
/// order in which products on this device read it. float32 is rounded where
/// packed is bfloat16.
struct PackMatrixAttributes {
  int64_t k = 1, n = 1;
  MatrixStrides b;
};

/// Bytes of a packed row of a panel at most; kernels may use half or less.
inline constexpr int64_t kPanelBytes = 128;

/// Elements of `itemsize` bytes that a packed k x n matrix takes. Of two bytes
/// they are packed in pairs along k.
constexpr int64_t packed_size(int64_t k, int64_t n, int64_t itemsize) {
  const bool pairs = itemsize == 2;
  const int64_t width = kPanelBytes / (pairs ? 4 : itemsize);
  return (n + width - 1) / width * width * (pairs ? k + k % 2 : k);
}

}  // namespace hotaru
