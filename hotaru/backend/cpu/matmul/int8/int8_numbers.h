// Zero points and scales of 8-bit integers, as kernels read them.
#pragma once

#include "hotaru/backend/common/matmul/int8.h"
#include "hotaru/backend/cpu/matmul/int8/gemm_int8.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

/// The element of an int8 or uint8 tensor.
inline int32_t byte_at(const Tensor& t, int64_t i) {
  return t.dtype() == DType::kInt8 ? t.data<int8_t>()[i] : t.data<uint8_t>()[i];
}

/// n zero points, `step` elements apart from `first` on; zeros of an undefined
/// tensor.
inline void read_zeros(const Tensor& t, int64_t first, int64_t step, int64_t n,
                       int32_t* to) {
  if (!t.defined() || step == 0) {
    std::fill_n(to, n, t.defined() && n > 0 ? byte_at(t, first) : 0);
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i] = byte_at(t, first + i * step);
}

inline ByteMatrix byte_matrix(const Tensor& t, int64_t first,
                              const MatrixStrides& s) {
  const auto* data = static_cast<const uint8_t*>(t.raw_data());
  return {data ? data + first : nullptr, t.dtype() == DType::kInt8, s.row,
          s.column};
}

inline Int8Output::Kind output_kind(const Tensor& out) {
  using Kind = Int8Output::Kind;
  return out.dtype() == DType::kInt32     ? Kind::kSums
         : out.dtype() == DType::kFloat32 ? Kind::kFloats
         : out.dtype() == DType::kInt8    ? Kind::kSigned
                                          : Kind::kUnsigned;
}

}  // namespace hotaru::cpu
