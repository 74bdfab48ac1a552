// Tensors out of nothing.
#pragma once

#include <cmath>

#include "hotaru/core/tensor.h"
#include "hotaru/ops/boxing.h"

namespace hotaru {

/// Dtype and device of a new tensor; the default dtype on the CPU unless set.
struct TensorOptions {
  Optional<DType> dtype;
  Optional<Device> device;
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype(dtype) {}
  TensorOptions(DType dtype, Device device) : dtype(dtype), device(device) {}
  /// Options of an existing tensor.
  explicit TensorOptions(const Tensor& like)
      : dtype(like.dtype()), device(like.device()) {}
};

/// Uninitialised.
Tensor empty(IntSpan size, TensorOptions options = {});
Tensor empty_strided(IntSpan size, IntSpan stride, TensorOptions options = {});
Tensor full(IntSpan size, const Scalar& value, TensorOptions options = {});
Tensor zeros(IntSpan size, TensorOptions options = {});
Tensor ones(IntSpan size, TensorOptions options = {});
/// The like variants keep shape, dtype and device, and dense strides.
Tensor empty_like(const Tensor& self);
Tensor zeros_like(const Tensor& self);
Tensor ones_like(const Tensor& self);
Tensor full_like(const Tensor& self, const Scalar& value);
/// Values start, start+step, ... below end; dtype int64 for integers.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              TensorOptions options = {});
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                TensorOptions options = {});
Tensor eye(int64_t n, int64_t m, TensorOptions options = {});
/// A zero-dimensional tensor of the number's own dtype that yields to other
/// dtypes in promotion.
Tensor wrapped_scalar(const Scalar& value, Device device = {});
/// A zero-dimensional tensor of the given dtype.
Tensor scalar_tensor(const Scalar& value, TensorOptions options = {});
/// The same of self's dtype; throws where that cannot hold the value.
Tensor number_like(const Tensor& self, const Scalar& value);

/// The tensor, or of a dtype that is_stored_only() its memory as integers.
Tensor as_numbers(const Tensor& t);

/// Sets every element.
Tensor fill_(const Tensor& self, const Scalar& value);
Tensor zero_(const Tensor& self);

/// Tells whether an element of this dtype can hold the number, give or take its
/// precision; small negative numbers wrap in uint8.
bool holds(DType dtype, const Scalar& value);
/// True if every dtype does, as of most numbers: asked before result_type().
inline bool all_hold(const Scalar& value) {
  return !value.is_complex() && std::abs(value.to_double()) <= 127;
}
/// Throws PyTorch's error unless holds().
void check_holds(DType dtype, const Scalar& value);
/// The same for a bound, which 16-bit floats have to hold, too.
void check_bound(DType dtype, const Scalar& value);
/// The number as kernels of that dtype take it: rounded for 16-bit floats,
/// which have to hold it.
Scalar as_element(const Scalar& value, DType dtype);

}  // namespace hotaru
