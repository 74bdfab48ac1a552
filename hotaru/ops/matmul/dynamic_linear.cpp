// Linear maps of floats that compute in 8-bit integers.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/backend/common/matmul/dynamic_quantize.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/shape.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/matmul/quantized.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

constexpr const char* kDynamicName = "linear_dynamic: ";

/// Throws unless `t`, if there is one, has a float32 for each of n outputs, or
/// one for all.
void check_floats(const char* name, const Tensor& t, int64_t n, bool for_all) {
  if (!t.defined()) return;
  const bool fits =
      (for_all && t.numel() == 1) || (t.dim() == 1 && t.size(0) == n);
  HOTARU_CHECK(t.dtype() == DType::kFloat32 && fits, kDynamicName, name,
               " should be float32, one for each of ", n, " outputs",
               for_all ? " or one for all" : "", ", got ",
               scalar_type_name(t.dtype()), " of shape ",
               shape_text(t.sizes()));
}

}  // namespace

namespace {

using Quantized = std::tuple<Tensor, Tensor, Tensor>;

/// The same of what every device has.
Quantized composed(const Tensor& x) {
  const Tensor low = clamp(amin(x, {}), {}, Scalar(0.0));
  const Tensor high = clamp(amax(x, {}), Scalar(0.0), {});
  const Tensor range = div(sub(high, low), wrapped_scalar(255.0));
  const Tensor scale = masked_fill(range, eq(range, 0), 1);
  const Tensor zero =
      round(clamp(div(neg(low), scale), Scalar(0.0), Scalar(255.0)));
  const Tensor moved = add(round(div(x, scale)), zero);
  return {to(clamp(moved, Scalar(0.0), Scalar(255.0)), DType::kUInt8), scale,
          to(zero, DType::kUInt8)};
}

/// ONNX's DynamicQuantizeLinear: x's bytes, and their scale and zero point, a
/// number each. No gradient.
Quantized dynamic_quantize_linear(const Tensor& x) {
  static const Kernel& run = kernel("dynamic_quantize");
  HOTARU_CHECK(x.dtype() == DType::kFloat32,
               "dynamic_quantize_linear: expected scalar type Float but found ",
               scalar_type_name(x.dtype()));
  const autograd::NoGrad no_grad;
  if (!run.has(x.device().type)) return composed(x);
  const Tensor from = contiguous(x);
  const Tensor y = allocate(from.sizes(), DType::kUInt8, x.device());
  const Tensor scale = allocate(Dims{}, DType::kFloat32, x.device());
  const Tensor zero = allocate(Dims{}, DType::kUInt8, x.device());
  enqueue(run, {write(y), write(scale), write(zero), read(from)},
          DynamicQuantizeAttributes{.onnx = true});
  return {y, scale, zero};
}

HOTARU_OP(
    "hotaru::dynamic_quantize_linear(Tensor x) -> (Tensor, Tensor, Tensor)",
    dynamic_quantize_linear);

}  // namespace

Tensor linear_dynamic(const Tensor& x, const Tensor& weight,
                      const Tensor& scale, const Tensor& zero,
                      const Tensor& bias, bool reduce_range) {
  static const Kernel& quantize = kernel("dynamic_quantize");
  check_operand(DType::kFloat32, x.dtype());
  HOTARU_CHECK(weight.dtype() == DType::kInt8 && weight.dim() == 2,
               kDynamicName, "the weight should be a matrix of int8, got ",
               scalar_type_name(weight.dtype()), " of shape ",
               shape_text(weight.sizes()));
  check_floats("the scale", scale, weight.size(0), true);
  check_floats("the bias", bias, weight.size(0), false);
  HOTARU_CHECK(x.dim() > 0 && x.size(-1) == weight.size(1), kDynamicName,
               "an input of shape ", shape_text(x.sizes()),
               " does not fit a weight of shape ", shape_text(weight.sizes()));
  const autograd::NoGrad no_grad;
  const Tensor from = contiguous(x);
  const Tensor integers = allocate(from.sizes(), DType::kUInt8, x.device());
  const Tensor step = allocate(Dims{1}, DType::kFloat32, x.device());
  const Tensor middle = allocate(Dims{1}, DType::kUInt8, x.device());
  enqueue(quantize, {write(integers), write(step), write(middle), read(from)},
          DynamicQuantizeAttributes{reduce_range});
  return quantized_matmul(
      integers, transpose(weight, 0, 1), middle, zero,
      {step, scale, {}, {}, bias.defined() ? contiguous(bias) : bias});
}

HOTARU_OP(
    "hotaru::linear_dynamic(Tensor x, Tensor weight, Tensor scale, Tensor? "
    "zero=None, Tensor? bias=None, bool reduce_range=True) -> Tensor",
    linear_dynamic);

}  // namespace hotaru
