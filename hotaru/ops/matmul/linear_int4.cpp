// Linear maps of floats by weights of 4 bits in groups.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/backend/common/matmul/weight_only.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/shape.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/kernel.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

constexpr const char* kInt4Name = "linear_int4: ";

/// Sizes of [groups, outputs, 2] scales and zeros, or of those of blocks of 64
/// outputs [blocks, groups, 64, 2], which a block's products read in one go.
struct Scaled {
  explicit Scaled(const Tensor& scales)
      : by_blocks(scales.dim() == 4),
        groups(scales.size(by_blocks)),
        outputs(by_blocks ? scales.size(0) * kInt4Rows : scales.size(1)) {}

  static bool takes(const Tensor& t) {
    return t.dtype() == DType::kBFloat16 && (t.dim() == 3 || t.dim() == 4) &&
           t.size(-1) == 2 && (t.dim() == 3 || t.size(2) == kInt4Rows);
  }

  bool by_blocks;
  int64_t groups, outputs;
};

Scaled checked(const Tensor& x, const Tensor& packed, const Tensor& scales,
               const Tensor& bias) {
  HOTARU_CHECK(x.dtype() == DType::kFloat32 && x.dim() > 0, kInt4Name,
               "the input should be float32 of some dimensions, got ",
               scalar_type_name(x.dtype()), " of shape ",
               shape_text(x.sizes()));
  HOTARU_CHECK(Scaled::takes(scales), kInt4Name,
               "scales should be bfloat16 of shape [groups, outputs, 2] or, of "
               "outputs in blocks, [blocks, groups, 64, 2], got ",
               scalar_type_name(scales.dtype()), " of shape ",
               shape_text(scales.sizes()));
  const Scaled made(scales);
  const int64_t k = x.size(-1), groups = made.groups, n = made.outputs;
  const int64_t group = groups > 0 ? k / groups : 0;
  HOTARU_CHECK(group > 0 && group % 32 == 0 && group * groups == k, kInt4Name,
               "an input of shape ", shape_text(x.sizes()), " does not fit ",
               groups, " groups of 32, 64 or another multiple of 32");
  HOTARU_CHECK(packed.dtype() == DType::kUInt8 && packed.dim() == 2 &&
                   packed.size(0) == n + n % 2 && packed.size(1) == k / 2,
               kInt4Name, "for ", n, " outputs of ", k,
               " inputs the weight should be uint8 of shape [", n + n % 2, ", ",
               k / 2, "], got ", scalar_type_name(packed.dtype()), " of shape ",
               shape_text(packed.sizes()));
  HOTARU_CHECK(
      !bias.defined() ||
          (bias.dtype() == x.dtype() && bias.dim() == 1 && bias.size(0) == n),
      kInt4Name, "a bias of ", scalar_type_name(bias.dtype()), " and shape ",
      shape_text(bias.sizes()), " does not fit ", n, " outputs of Float");
  return made;
}

/// x [..., k] times the transpose of a weight [n, k] of 4-bit integers, as
/// NarrowLayout::kInt4 has them, plus bias. packed [n, k / 2], n rounded up to
/// an even number; scales as Scaled has them. No gradient.
Tensor linear_int4(const Tensor& x, const Tensor& packed, const Tensor& scales,
                   const Tensor& bias) {
  static const Kernel& product = kernel("weight_only_linear");
  const auto [by_blocks, groups, n] = checked(x, packed, scales, bias);
  const autograd::NoGrad no_grad;
  const int64_t k = x.size(-1), m = x.numel() / k;
  const Tensor rows = reshape(contiguous(x), Dims{m, k});
  const Tensor out = allocate(Dims{m, n}, x.dtype(), x.device());
  enqueue(product,
          {write(out), read(rows), read(contiguous(packed)),
           read(contiguous(scales)),
           read(bias.defined() ? contiguous(bias) : bias)},
          WeightOnlyAttributes{.layout = NarrowLayout::kInt4,
                               .m = m,
                               .n = n,
                               .k = k,
                               .x_row = k,
                               .group = k / groups,
                               .scales_by_blocks = by_blocks});
  Dims shape(x.sizes());
  shape[shape.size() - 1] = n;
  return reshape(out, shape);
}

HOTARU_OP(
    "hotaru::linear_int4(Tensor x, Tensor weight, Tensor scales, Tensor? "
    "bias=None) -> Tensor",
    linear_int4);

}  // namespace
}  // namespace hotaru
