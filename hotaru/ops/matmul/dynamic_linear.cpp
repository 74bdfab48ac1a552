// Linear maps of floats that compute in 8-bit integers.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/backend/common/matmul/dynamic_quantize.h"
#include "hotaru/core/error.h"
#include "hotaru/core/shape.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/quantized.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

constexpr const char* kName = "linear_dynamic: ";

/// x [..., k], quantised in each call, times the transpose of weight [n, k]
/// int8, whose rows have scales and zero points: one, or n of them. No
/// gradient.
Tensor linear_dynamic(const Tensor& x, const Tensor& weight,
                      const Tensor& scale, const Tensor& zero,
                      const Tensor& bias, bool reduce_range) {
  static const Kernel& quantize = kernel("dynamic_quantize");
  HOTARU_CHECK(x.dtype() == DType::kFloat32,
               "expected scalar type Float but found ",
               scalar_type_name(x.dtype()));
  HOTARU_CHECK(weight.dtype() == DType::kInt8 && weight.dim() == 2, kName,
               "the weight should be a matrix of int8, got ",
               scalar_type_name(weight.dtype()), " of shape ",
               shape_text(weight.sizes()));
  HOTARU_CHECK(x.dim() > 0 && x.size(-1) == weight.size(1), kName,
               "an input of shape ", shape_text(x.sizes()),
               " does not fit a weight of shape ", shape_text(weight.sizes()));
  const autograd::NoGrad no_grad;
  const Tensor from = contiguous(x);
  const Tensor integers = allocate(from.sizes(), DType::kUInt8, x.device());
  const Tensor step = allocate(Dims{1}, DType::kFloat32, x.device());
  const Tensor middle = allocate(Dims{1}, DType::kUInt8, x.device());
  enqueue(quantize, {write(integers), write(step), write(middle), read(from)},
          DynamicQuantizeAttributes{reduce_range});
  const Tensor sums =
      quantized_matmul(integers, transpose(weight, 0, 1), middle, zero);
  const Tensor made = mul(to(sums, DType::kFloat32), mul(scale, step));
  return bias.defined() ? add(made, bias) : made;
}

HOTARU_OP(
    "hotaru::linear_dynamic(Tensor x, Tensor weight, Tensor scale, Tensor? "
    "zero=None, Tensor? bias=None, bool reduce_range=True) -> Tensor",
    linear_dynamic);

}  // namespace
}  // namespace hotaru
