// How an elementwise operator decides: promotion, broadcasting, allocation.
// Families of elementwise operators build on these few functions.
#pragma once

#include "hotaru/backend/common/pointwise/pointwise.h"
#include "hotaru/ops/boxing.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::elementwise {

/// Dtype that an operator computes in, given its operands' promoted dtype.
enum class Compute : uint8_t {
  kSame,
  /// Integers and bool become the default dtype.
  kFloating,
};
/// Dtype that it gives.
enum class Result : uint8_t {
  kSame,
  kBool,
  /// Dtype of their parts, for complex numbers.
  kReal,
  /// Dtype of which they are parts, for real numbers.
  kComplex,
};

struct Spec {
  const Kernel& kernel;
  Compute compute = Compute::kSame;
  Result result = Result::kSame;
  /// Beside 16-bit floats a last operand without dimensions is not rounded to
  /// them: x * 0.1 multiplies by the float.
  bool keeps_number = false;
};

/// The operator on one, two or three tensors; no gradient.
Tensor unary(const Spec& spec, const Tensor& x,
             const PointwiseNumbers& numbers = {});
Tensor binary(const Spec& spec, const Tensor& x, const Tensor& y,
              const PointwiseNumbers& numbers = {});
Tensor ternary(const Spec& spec, const Tensor& x, const Tensor& y,
               const Tensor& z, const PointwiseNumbers& numbers = {});

/// The same, written into `out`, which may be an input. Throws PyTorch's
/// texts when the result has another shape, or a dtype that can't be cast to
/// out's. Checks that autograd allows the write; bumps no version.
void unary_into(const Spec& spec, const Tensor& out, const Tensor& x,
                const PointwiseNumbers& numbers = {});
void binary_into(const Spec& spec, const Tensor& out, const Tensor& x,
                 const Tensor& y, const PointwiseNumbers& numbers = {});
void ternary_into(const Spec& spec, const Tensor& out, const Tensor& x,
                  const Tensor& y, const Tensor& z,
                  const PointwiseNumbers& numbers = {});

/// An uninitialised result of that shape, its dimensions in the order in which
/// the tensors (three at most) have them in memory.
Tensor allocate_result(std::span<const Tensor* const> tensors,
                       const Dims& shape, DType dtype);

/// A number as the operand beside x: zero-dimensional, weak in promotion.
Tensor operand(const Scalar& value, const Tensor& x);

}  // namespace hotaru::elementwise
