#include "hotaru/ops/pointwise/elementwise.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/rare.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {
namespace {

/// The dtypes promoted so far among whole tensors, zero-dimensional tensors
/// and numbers, which count in this order.
struct Promotion {
  Optional<DType> whole, zero_dim, number;

  static void merge(Optional<DType>& into, DType dtype) {
    into = into ? promote_types(*into, dtype) : dtype;
  }
  void add(const Tensor& t) {
    if (!t.defined()) return;
    DType dtype = t.dtype();
    if (t.impl()->wrapped_number) {
      if (is_complex(dtype))
        dtype = to_complex(default_dtype());
      else if (is_floating_point(dtype))
        dtype = default_dtype();
      merge(number, dtype);
    } else {
      merge(t.dim() == 0 ? zero_dim : whole, dtype);
    }
  }
  static int category(DType d) {
    if (is_complex(d)) return 3;
    if (is_floating_point(d)) return 2;
    return d == DType::kBool ? 0 : 1;
  }
  /// A weaker class counts only by a higher category of numbers.
  static Optional<DType> combine(Optional<DType> strong, Optional<DType> weak) {
    if (!strong || !weak) return strong ? strong : weak;
    if (category(*weak) <= category(*strong)) return strong;
    if (is_complex(*weak) && is_floating_point(*strong)) {
      const bool half = *strong == DType::kFloat16;
      return half ? DType::kComplex32 : to_complex(*strong);
    }
    return promote_types(*strong, *weak);
  }
  DType result() const {
    return combine(combine(whole, zero_dim), number).value_or(default_dtype());
  }
};

template <class Range>
DType promoted(const Range& operands) {
  Promotion promotion;
  for (const Tensor& t : operands) promotion.add(t);
  return promotion.result();
}

}  // namespace

DType result_type(std::initializer_list<Tensor> operands) {
  return promoted(operands);
}
DType result_type(const Tensors& operands) {
  return promoted(operands);
}

namespace elementwise {

namespace {

/// That of the first tensor that is not a number on the CPU.
Device common_device(std::span<const Tensor* const> inputs) {
  for (const Tensor* t : inputs)
    if (!t->device().is_cpu() || t->dim() > 0) return t->device();
  return {};
}

}  // namespace

Tensor allocate_result(std::span<const Tensor* const> inputs, const Dims& shape,
                       DType dtype) {
  const Device device = resolve(common_device(inputs));
  bool plain = true;
  for (const Tensor* t : inputs) plain &= t->is_contiguous();
  if (plain) return hotaru::allocate_result(shape, dtype, device);
  std::array<Dims, 3> strides;
  for (size_t i = 0; i < inputs.size(); ++i)
    strides[i] =
        broadcast_strides(inputs[i]->sizes(), inputs[i]->strides(), shape);
  return hotaru::allocate_result(
      shape, dense_strides(shape, {strides.data(), inputs.size()}), dtype,
      device);
}

namespace {

using Inputs = std::span<const Tensor* const>;

DType common_dtype(const Spec& spec, Inputs inputs) {
  const DType first = inputs[0]->dtype();
  bool equal = !inputs[0]->impl()->wrapped_number;
  for (const Tensor* t : inputs) equal &= t->dtype() == first;
  DType common = first;
  if (!equal) {
    Promotion promotion;
    for (const Tensor* t : inputs) promotion.add(*t);
    common = promotion.result();
  }
  if (spec.compute == Compute::kFloating && !is_differentiable(common))
    common = default_dtype();
  return common;
}

DType result_dtype(const Spec& spec, DType common) {
  if (spec.result == Result::kBool) return DType::kBool;
  if (spec.result == Result::kComplex) return to_complex(common);
  return spec.result == Result::kReal ? to_real(common) : common;
}

/// The case of most calls: nothing to promote, broadcast or cast.
bool is_plain(const Spec& spec, Inputs inputs) {
  const TensorImpl& first = *inputs[0]->impl();
  if (!first.contiguous || first.wrapped_number || is_rare(first.dtype))
    return false;
  if (spec.compute == Compute::kFloating && !is_differentiable(first.dtype))
    return false;
  for (const Tensor* t : inputs.subspan(1)) {
    const TensorImpl& other = *t->impl();
    if (!other.contiguous || other.dtype != first.dtype ||
        other.storage->device() != first.storage->device() ||
        !same(other.sizes, first.sizes))
      return false;
  }
  return true;
}

Tensor compute_plain(const Spec& spec, Inputs inputs,
                     const PointwiseNumbers& numbers) {
  const Tensor& first = *inputs[0];
  const DType dtype = result_dtype(spec, first.dtype());
  Tensor out = result_of_elements(spec.kernel.name(), first.sizes(), dtype,
                                  first.device());
  if (!out.defined())
    out = hotaru::allocate_result(first.sizes(), dtype, first.device());
  std::array<Operand, 4> operands{write(out)};
  for (size_t i = 0; i < inputs.size(); ++i) operands[i + 1] = read(*inputs[i]);
  enqueue_list(spec.kernel, {operands.data(), inputs.size() + 1}, numbers);
  return out;
}

Dims common_shape(Inputs inputs) {
  Dims shape(inputs[0]->sizes());
  for (const Tensor* t : inputs.subspan(1))
    if (!same(shape, t->sizes())) shape = broadcast_shapes(shape, t->sizes());
  return shape;
}

/// Tells whether a rare dtype has the operator, computed in its carrier: those
/// that PyTorch has for it.
bool carries(const Kernel& kernel, DType dtype) {
  if (is_stored_only(dtype)) return false;
  static constexpr std::string_view kAll[] = {"eq", "ne", "mul", "isnan"};
  static constexpr std::string_view kUnsigned[] = {"bitwise_and", "bitwise_or",
                                                   "bitwise_xor", "isinf"};
  static constexpr std::string_view kComplex[] = {"add", "neg", "abs", "isinf"};
  static constexpr std::string_view kFloat8[] = {"abs", "isinf"};
  const auto has = [&](std::span<const std::string_view> names) {
    return std::ranges::find(names, kernel.name()) != names.end();
  };
  if (has(kAll)) return true;
  if (dtype == DType::kFloat8E8M0FNU) return false;
  if (is_wide_unsigned(dtype)) return has(kUnsigned);
  return has(is_float8(dtype) ? std::span<const std::string_view>(kFloat8)
                              : std::span<const std::string_view>(kComplex));
}

/// A number on the CPU that a captured call of another device is to read in
/// each replay, not only now: it goes there first.
bool is_read_later(const Tensor& t, const Tensor& out) {
  return t.device() != out.device() && t.device().is_cpu() &&
         current_stream(out.device()).diverted();
}

void launch(const Spec& spec, const Tensor& out, Inputs inputs, DType common,
            const PointwiseNumbers& numbers);

/// PyTorch compares pairs of 4-bit floats by their bytes.
bool compares_bytes(const Kernel& kernel, DType dtype) {
  const std::string_view name = kernel.name();
  return dtype == DType::kFloat4E2M1FNX2 &&
         (name == "eq" || name == "ne" || name == "isnan");
}

void launch_of_bytes(const Spec& spec, const Tensor& out, Inputs inputs,
                     DType common, const PointwiseNumbers& numbers) {
  std::array<Tensor, 3> bytes;
  std::array<const Tensor*, 3> operands{};
  for (size_t i = 0; i < inputs.size(); ++i) {
    bytes[i] = as_numbers(to(*inputs[i], common));
    operands[i] = &bytes[i];
  }
  launch(spec, out, {operands.data(), inputs.size()}, stored_as(common),
         numbers);
}

void launch(const Spec& spec, const Tensor& out, Inputs inputs, DType common,
            const PointwiseNumbers& numbers) {
  if (compares_bytes(spec.kernel, common)) [[unlikely]]
    return launch_of_bytes(spec, out, inputs, common, numbers);
  if (is_rare(common) && carries(spec.kernel, common)) [[unlikely]] {
    const DType wide = carrier(common);
    Tensor result = out;
    if (is_rare(out.dtype()) || out.dtype() == to_real(common))
      result = empty(out.sizes(), {result_dtype(spec, wide), out.device()});
    launch(spec, result, inputs, wide, numbers);
    if (!result.is_same(out)) enqueue_copy(out, result);
    return;
  }
  // Operands of another dtype are cast first; no gradient goes this way, the
  // operator's formula speaks of the operands as given.
  const autograd::NoGrad no_grad;
  std::array<Tensor, 3> casts;
  std::array<Operand, 4> operands{write(out)};
  const bool reduced = common == DType::kFloat16 || common == DType::kBFloat16;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* t = inputs[i];
    if (t->dtype() != common) {
      const bool keep = spec.keeps_number && reduced && t->dim() == 0 &&
                        i > 0 && i + 1 == inputs.size();
      const DType dtype = keep ? DType::kFloat32 : common;
      casts[i] = t->impl()->wrapped_number && t->device().is_cpu()
                     ? scalar_tensor(host_value(*t, "a Python number"), {dtype})
                 : is_read_later(*t, out) ? to(to(*t, out.device()), dtype)
                                          : to(*t, dtype);
      t = &casts[i];
    }
    operands[i + 1] = read(*t);
  }
  enqueue_list(spec.kernel, {operands.data(), inputs.size() + 1}, numbers);
}

Tensor compute(const Spec& spec, Inputs inputs,
               const PointwiseNumbers& numbers) {
  if (is_plain(spec, inputs)) return compute_plain(spec, inputs, numbers);
  const DType common = common_dtype(spec, inputs);
  const Dims shape = common_shape(inputs);
  const DType dtype = result_dtype(spec, common);
  Tensor out = result_of_elements(spec.kernel.name(), shape, dtype,
                                  resolve(common_device(inputs)));
  if (!out.defined()) out = allocate_result(inputs, shape, dtype);
  launch(spec, out, inputs, common, numbers);
  return out;
}

void compute_into(const Spec& spec, const Tensor& out, Inputs inputs,
                  const PointwiseNumbers& numbers) {
  autograd::check_inplace(out);
  check_written(out);
  const bool limited =
      autograd::view_origin(out) != autograd::ViewOrigin::kPlain;
  for (const Tensor* t : inputs) {
    check_overlap(out, *t);
    if (limited && autograd::needs_grad(*t))
      autograd::check_history_in_view(out);
  }
  const DType common = common_dtype(spec, inputs);
  const DType result = result_dtype(spec, common);
  check_can_cast(result, out.dtype());
  const Dims shape = common_shape(inputs);
  check_result_shape(out.sizes(), shape);
  bool partial = false;
  for (const Tensor* t : inputs)
    partial |= t->storage() == out.storage() &&
               (t->storage_offset() != out.storage_offset() ||
                !same(t->strides(), out.strides()));
  if (result == out.dtype() && !partial)
    return launch(spec, out, inputs, common, numbers);
  const autograd::NoGrad no_grad;
  const Tensor temporary = allocate_result(inputs, shape, result);
  launch(spec, temporary, inputs, common, numbers);
  enqueue_copy(out, temporary);
}

}  // namespace

Tensor unary(const Spec& spec, const Tensor& x,
             const PointwiseNumbers& numbers) {
  const Tensor* inputs[] = {&x};
  return compute(spec, inputs, numbers);
}
Tensor binary(const Spec& spec, const Tensor& x, const Tensor& y,
              const PointwiseNumbers& numbers) {
  const Tensor* inputs[] = {&x, &y};
  return compute(spec, inputs, numbers);
}
Tensor ternary(const Spec& spec, const Tensor& x, const Tensor& y,
               const Tensor& z, const PointwiseNumbers& numbers) {
  const Tensor* inputs[] = {&x, &y, &z};
  return compute(spec, inputs, numbers);
}

void unary_into(const Spec& spec, const Tensor& out, const Tensor& x,
                const PointwiseNumbers& numbers) {
  const Tensor* inputs[] = {&x};
  compute_into(spec, out, inputs, numbers);
}
void binary_into(const Spec& spec, const Tensor& out, const Tensor& x,
                 const Tensor& y, const PointwiseNumbers& numbers) {
  const Tensor* inputs[] = {&x, &y};
  compute_into(spec, out, inputs, numbers);
}
void ternary_into(const Spec& spec, const Tensor& out, const Tensor& x,
                  const Tensor& y, const Tensor& z,
                  const PointwiseNumbers& numbers) {
  const Tensor* inputs[] = {&x, &y, &z};
  compute_into(spec, out, inputs, numbers);
}

Tensor operand(const Scalar& value, const Tensor&) {
  return wrapped_scalar(value, {});  // beside any device it travels by value
}

}  // namespace elementwise
}  // namespace hotaru
