// Products with integers: of 8-bit matrices, and of floats with weights that
// are kept in 8 or 4 bits.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/node.h"
#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/ops/activation/activation.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/matmul/quantized.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

/// [m, k] int8 or uint8 times [k, n] int8, exact in int32.
Tensor int_mm(const Tensor& self, const Tensor& mat2) {
  constexpr const char* kName = "int_mm_out_cpu: ";
  for (const auto& [t, name] : {std::pair(&self, "self"), {&mat2, "mat2"}})
    HOTARU_CHECK(t->dim() == 2, kName, "Expected ", name,
                 " to be of dimension 2 but got ", t->dim());
  HOTARU_CHECK(self.size(1) == mat2.size(0), kName,
               "self.size(1) needs to match mat2.size(0) but got ",
               self.size(1), " and ", mat2.size(0));
  HOTARU_CHECK(self.dtype() == DType::kInt8 || self.dtype() == DType::kUInt8,
               kName, "Expected self dtype to be int8 or uint8 but got ",
               cpp_type_name(self.dtype()));
  HOTARU_CHECK(mat2.dtype() == DType::kInt8, kName,
               "Expected mat2 dtype to be of type int8 but got ",
               cpp_type_name(mat2.dtype()));
  return quantized_matmul(self, mat2, {}, {});
}

void check_activations(const char* op, const Tensor& a, const char* layout) {
  HOTARU_CHECK(a.dim() == 2, op, " : expect A to be a 2D tensor, got ", a.dim(),
               "D.");
  HOTARU_CHECK(a.dtype() == DType::kFloat32 || a.dtype() == DType::kFloat16 ||
                   a.dtype() == DType::kBFloat16,
               op, " : expect A to be either 32-bit or 16-bit float tensor.");
  const bool rows = a.stride(1) == 1 || a.size(1) <= 1;
  HOTARU_CHECK(*layout ? rows : a.is_contiguous(), op, " : ",
               *layout ? layout : "expect A to be contiguous.");
}

/// True if the kernel does it; else the product is made of mm, which has a
/// gradient.
bool has_kernel(const Tensor& a) {
  static const Kernel& product = kernel("weight_only_linear");
  return product.has(a.device().type) &&
         !(autograd::grad_enabled() && autograd::requires_grad(a));
}

Tensor weight_only(NarrowLayout layout, const Tensor& a, const Tensor& weight,
                   int64_t group, const Tensor& scales) {
  static const Kernel& product = kernel("weight_only_linear");
  const int64_t m = a.size(0), n = weight.size(0), k = a.size(1);
  const Tensor out = allocate(Dims{m, n}, a.dtype(), a.device());
  enqueue(product,
          {write(out), read(a), read(weight), read(scales), read(Tensor())},
          WeightOnlyAttributes{.layout = layout,
                               .m = m,
                               .n = n,
                               .k = k,
                               .x_row = a.stride(0),
                               .group = group});
  return out;
}

/// A [m, k] times the transpose of B [n, k] int8, each column by its scale.
Tensor weight_int8pack_mm(const Tensor& a, const Tensor& b,
                          const Tensor& scales) {
  constexpr const char* kName = "_weight_int8pack_mm_cpu";
  check_activations(kName, a, "A must be contiguous on the last dimension.");
  HOTARU_CHECK(b.dtype() == DType::kInt8, kName,
               " : expect B to be int8 tensor.");
  HOTARU_CHECK(b.is_contiguous(), kName, " : expect B to be contiguous.");
  HOTARU_CHECK(b.dim() == 2 && b.size(1) == a.size(1), kName,
               " : expect B.size(1) == ", a.size(1));
  HOTARU_CHECK(scales.dim() == 1 && scales.size(0) == b.size(0), kName,
               " : expect scales to be 1d tensor with size ", b.size(0));
  check_operand(a.dtype(), scales.dtype());
  if (has_kernel(a))
    return weight_only(NarrowLayout::kInt8, a, b, 0, contiguous(scales));
  const DType wide = DType::kFloat32;
  return to(mul(mm(to(a, wide), t(to(b, wide))), to(scales, wide)), a.dtype());
}

/// A block of rows [n, k] of int32 below 16 -> [n, k / 2] of bytes, as
/// NarrowLayout::kInt4 has them.
Tensor pack_block(const Tensor& w) {
  const int64_t rows = w.size(0);
  const Tensor pairs =
      rows == kInt4Rows
          ? reshape(w, Dims{2, rows / 2, w.size(1)})
          : transpose(reshape(w, Dims{rows / 2, 2, w.size(1)}), 0, 1);
  const Tensor bytes = bitwise_or(
      bitwise_and(select(pairs, 0, 0), wrapped_scalar(15)),
      bitwise_left_shift(bitwise_and(select(pairs, 0, 1), wrapped_scalar(15)),
                         wrapped_scalar(4)));
  return reshape(t(to(bytes, DType::kUInt8)), Dims{rows, w.size(1) / 2});
}

Tensor unpack_block(const Tensor& packed, int64_t k) {
  const int64_t rows = packed.size(0);
  const Tensor bytes = t(reshape(packed, Dims{k, rows / 2}));
  const Tensor low = bitwise_and(bytes, wrapped_scalar(15));
  const Tensor high = bitwise_right_shift(bytes, wrapped_scalar(4));
  return rows == kInt4Rows ? cat({low, high}, 0)
                           : reshape(stack({low, high}, 1), Dims{rows, k});
}

template <class F>
Tensor by_blocks(const Tensor& rows, const F& f) {
  Tensors out;
  for (int64_t n = 0; n < rows.size(0); n += kInt4Rows)
    out.push_back(f(narrow(rows, 0, n, std::min(kInt4Rows, rows.size(0) - n))));
  return out.empty() ? rows : cat(out, 0);
}

/// inner_k_tiles is what other devices' layouts need.
Tensor convert_weight_to_int4pack(const Tensor& self, int64_t inner_k_tiles) {
  constexpr const char* kName = "_convert_weight_to_int4pack_cpu : ";
  HOTARU_CHECK(self.dim() == 2, kName, "expect weight to be 2D tensor.");
  HOTARU_CHECK(self.dtype() == DType::kInt32, kName,
               "expect weight to be kInt.");
  HOTARU_CHECK(self.size(0) % 16 == 0, kName, "expect N to be dividable by 16");
  HOTARU_CHECK(self.size(1) % 2 == 0,
               "_convert_weight_to_int4pack: expect K to be dividable by 2");
  static_cast<void>(inner_k_tiles);
  if (self.numel() == 0)
    return zeros(Dims{self.size(0), self.size(1) / 2},
                 {DType::kUInt8, self.device()});
  return by_blocks(contiguous(self), pack_block);
}

/// A [m, k] times the transpose of what was packed from [n, k]: element q of a
/// row, in the group's columns, stands for (q - 8) * scale + zero.
Tensor weight_int4pack_mm(const Tensor& a, const Tensor& packed, int64_t group,
                          const Tensor& scales) {
  constexpr const char* kName = "_weight_int4pack_mm_cpu";
  check_activations(kName, a, "");
  HOTARU_CHECK(packed.dtype() == DType::kUInt8, kName,
               " : expect B to be uint8 tensor.");
  const int64_t k = a.size(1);
  HOTARU_CHECK(packed.is_contiguous(), kName, " : expect B to be contiguous.");
  HOTARU_CHECK(packed.dim() == 2 && packed.size(1) == k / 2, kName,
               " : expect B.size(1) == ", k / 2);
  HOTARU_CHECK(group == 32 || group == 64 || group == 128 || group == 256,
               kName, ": expect qGroupSize to be 32, 64, 128 or 256, got ",
               group);
  HOTARU_CHECK(k % group == 0, kName,
               ": expect K to be divisible by qGroupSize, got K:", k,
               ", qGroupSize:", group);
  const int64_t n = packed.size(0);
  HOTARU_CHECK(scales.dim() == 3 && scales.size(1) == n && scales.size(2) == 2,
               kName, ": expect qScaleAndZeros to be 3d tensor with sizes [:, ",
               n, ", 2]");
  HOTARU_CHECK(scales.size(0) >= k / group, kName,
               ": expect qScaleAndZeros to have ", k / group,
               " groups, but got ", scales.size(0));
  check_operand(a.dtype(), scales.dtype());
  if (has_kernel(a) && n % 2 == 0)
    return weight_only(NarrowLayout::kInt4, a, packed, group,
                       contiguous(scales));
  const DType wide = DType::kFloat32;
  const Tensor q = by_blocks(
      packed, [&](const Tensor& block) { return unpack_block(block, k); });
  const Tensor levels =
      sub(to(reshape(q, Dims{n, k / group, group}), wide), wrapped_scalar(8));
  // [groups, n, 2] -> [n, groups, 1], twice.
  const Tensor both =
      transpose(to(narrow(scales, 0, 0, k / group), wide), 0, 1);
  const Tensor weight =
      add(mul(levels, narrow(both, 2, 0, 1)), narrow(both, 2, 1, 1));
  return to(mm(to(a, wide), t(reshape(weight, Dims{n, k}))), a.dtype());
}

/// addmm and what mostly follows it: relu, or gelu.
Tensor addmm_activation(const Tensor& self, const Tensor& mat1,
                        const Tensor& mat2, const Scalar& beta,
                        const Scalar& alpha, bool use_gelu) {
  const Tensor out = addmm(self, mat1, mat2, beta, alpha);
  return use_gelu ? gelu(out) : relu(out);
}

HOTARU_OP("_int_mm(Tensor self, Tensor mat2) -> Tensor", int_mm);
HOTARU_OP(
    "_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
    weight_int8pack_mm);
HOTARU_OP(
    "_convert_weight_to_int4pack_for_cpu(Tensor self, int innerKTiles) -> "
    "Tensor",
    convert_weight_to_int4pack);
HOTARU_OP(
    "_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, "
    "Tensor qScaleAndZeros) -> Tensor",
    weight_int4pack_mm);
HOTARU_OP(
    "_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar "
    "beta=1, Scalar alpha=1, bool use_gelu=False) -> Tensor",
    addmm_activation);

}  // namespace
}  // namespace hotaru
