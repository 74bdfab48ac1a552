// Bags of embeddings: rows of a table, added up, averaged or compared.
#include "hotaru/backend/common/index/embedding_bag.h"

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/index/index_dtype.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/join.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

using autograd::Backward;
using BagResult = std::tuple<Tensor, Tensor, Tensor, Tensor>;

void check_operands(const Tensor& weight, const Tensor& indices,
                    const Tensor& offsets, const Tensor& factors) {
  const auto check_type = [](bool good, const char* what, const Tensor& t,
                             const char* known) {
    HOTARU_CHECK(good, "Expected tensor for argument ", what,
                 " to have one of the following scalar types: ", known,
                 "; but got torch.", scalar_type_name(t.dtype()),
                 "Tensor instead (while checking arguments for "
                 "embedding_bag)");
  };
  const auto check_rank = [](const char* what, const Tensor& t, int64_t rank) {
    HOTARU_CHECK(t.dim() == rank, what, " has to be a ", rank,
                 "D Tensor, but got Tensor of dimension ", t.dim());
  };
  HOTARU_CHECK(
      indices.dim() == 1 || indices.dim() == 2,
      "input has to be a 1D or 2D Tensor, but got Tensor of dimension ",
      indices.dim());
  check_rank("input", indices, 1);
  check_rank("offsets", offsets, 1);
  check_rank("weight", weight, 2);
  check_type(is_index(indices), "#1 'indices'", indices, "Long, Int");
  check_type(is_index(offsets), "#1 'offsets'", offsets, "Long, Int");
  check_type(is_floating_point(weight.dtype()), "#1 'weight'", weight,
             "Half, BFloat16, Float, Double");
  if (!factors.defined()) return;
  HOTARU_CHECK(
      factors.dtype() == weight.dtype(),
      "Expected tensor for argument #1 'weight' to have the same type "
      "as tensor for argument #1 'per_sample_weights'; but type torch.",
      scalar_type_name(weight.dtype()), "Tensor does not equal torch.",
      scalar_type_name(factors.dtype()),
      "Tensor (while checking arguments for embedding_bag)");
  HOTARU_CHECK(factors.dim() == 1 && factors.numel() == indices.numel(),
               "embedding_bag: expected per_sample_weights of shape [",
               indices.numel(), "], but got ", shape_text(factors.sizes()));
}

/// Gradient that flows to the position of each index: that of its bag. None
/// flows to positions behind the last bag.
Tensor spread(const Tensor& g, const Tensor& bag_of) {
  const Tensor nothing = zeros(Dims{1, g.size(1)}, TensorOptions(g));
  return index_select(cat({g, nothing}, 0), 0, bag_of);
}

/// saved: weight, indices, offset2bag, bag sizes, factors, rows of maxima.
Tensors gradients(Backward& b, const Tensor& g, const BagAttributes& a,
                  bool scale_grad_by_freq) {
  const Tensor weight = b.saved(0), indices = b.saved(1), sizes = b.saved(3),
               factors = b.saved(4);
  const Tensor size = unsqueeze(sizes, 1);
  if (a.mode == BagMode::kMax) {
    const Tensor into = zeros(weight.sizes(), TensorOptions(g));
    return {scatter_add(into, 0, b.saved(5), masked_fill(g, eq(size, 0), 0)),
            Tensor()};
  }
  const bool mean = a.mode == BagMode::kMean;
  const Tensor of_bags =
      mean ? div(g, to(clamp(size, Scalar(1), {}), g.dtype())) : g;
  static const Kernel& added = kernel("embedding_bag_grad");
  const bool wide =
      g.dtype() == DType::kFloat32 || g.dtype() == DType::kFloat64;
  if (wide && added.has(g.device().type) && !autograd::grad_enabled() &&
      !factors.defined() && a.padding_idx < 0 && !scale_grad_by_freq) {
    const Tensor out = zeros(weight.sizes(), TensorOptions(g));
    const Tensor flow = contiguous(of_bags);
    enqueue(added, {update(out), read(indices), read(b.saved(2)), read(flow)});
    return {out, Tensor()};
  }
  const Tensor each = spread(of_bags, b.saved(2));
  Tensors out(2);
  if (b.needs(0)) {
    const Tensor scaled =
        factors.defined() ? mul(each, unsqueeze(factors, 1)) : each;
    out[0] = embedding_dense_backward(scaled, indices, weight.size(0),
                                      a.padding_idx, scale_grad_by_freq);
  }
  if (factors.defined() && b.needs(1)) {
    const Tensor dots =
        sum(mul(each, index_select(weight, 0, indices)), Dims{1});
    out[1] = masked_fill(dots, eq(indices, a.padding_idx), 0);
  }
  return out;
}

BagResult bags(const Tensor& weight, const Tensor& indices,
               const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
               bool sparse, const Tensor& factors, bool include_last_offset,
               int64_t padding_idx) {
  static const Kernel& run = kernel("embedding_bag");
  check_operands(weight, indices, offsets, factors);
  HOTARU_CHECK(mode >= 0 && mode <= 2, "`mode` must be sum, mean, or max.");
  HOTARU_CHECK(!factors.defined() || mode == 0,
               "embedding_bag: per_sample_weights only supported with "
               "mode='sum'");
  HOTARU_CHECK(!sparse || !autograd::needs_grad(weight),
               "embedding_bag: sparse gradients are not supported");
  HOTARU_CHECK(!include_last_offset || offsets.numel() > 0,
               "include_last_offset: number of offset should be at least 1");
  // PyTorch overlooks the last offset wherever it has to look at each row.
  const bool each_row = BagMode(mode) == BagMode::kMax || padding_idx >= 0;
  const BagAttributes a{BagMode(mode), padding_idx, include_last_offset,
                        each_row};
  const int64_t count = offsets.numel() - include_last_offset;
  const Device device = weight.device();
  const Dims shape{count, weight.size(1)};
  const Tensor out = allocate(shape, weight.dtype(), device);
  const Tensor bag_of = allocate(indices.sizes(), DType::kInt64, device);
  const Tensor sizes = allocate(Dims{count}, DType::kInt64, device);
  const bool max = a.mode == BagMode::kMax;
  const Tensor winners = allocate(max ? shape : Dims{0}, DType::kInt64, device);
  Tensor at;
  {
    autograd::NoGrad guard;
    const Tensor table = contiguous(weight);
    at = contiguous(to(indices, DType::kInt64));
    const Tensor starts = contiguous(to(offsets, DType::kInt64));
    const Tensor scale = factors.defined() ? contiguous(factors) : Tensor();
    std::vector<Operand> operands{write(out),  write(bag_of), write(sizes),
                                  read(table), read(at),      read(starts)};
    if (max) operands.push_back(write(winners));
    if (scale.defined()) operands.push_back(read(scale));
    enqueue_list(run, operands, a);
  }
  if (autograd::needs_grad(weight, factors))
    autograd::record("EmbeddingBagBackward0", out, {weight, factors},
                     {weight, at, bag_of, sizes, factors, winners},
                     [a, scale_grad_by_freq](Backward& b, const Tensor& g) {
                       return gradients(b, g, a, scale_grad_by_freq);
                     });
  return {out, bag_of, sizes, winners};
}

int64_t row_of(Optional<int64_t> padding_idx, const Tensor& weight) {
  if (!padding_idx) return -1;
  const int64_t rows = weight.dim() ? weight.size(0) : 0;
  HOTARU_CHECK(*padding_idx >= -rows && *padding_idx < rows,
               "padding_idx must be within the number of embeddings, ", -rows,
               " through ", rows - 1, ", but got ", *padding_idx);
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

}  // namespace

HOTARU_OP(
    "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
    "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
    "per_sample_weights=None, bool include_last_offset=False) -> (Tensor, "
    "Tensor, Tensor, Tensor)",
    +[](const Tensor& weight, const Tensor& indices, const Tensor& offsets,
        bool scale, int64_t mode, bool sparse, const Tensor& factors,
        bool last) {
      return bags(weight, indices, offsets, scale, mode, sparse, factors, last,
                  -1);
    });
HOTARU_OP(
    "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
    "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
    "per_sample_weights=None, bool include_last_offset=False, int "
    "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
    bags);
HOTARU_OP(
    "_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor "
    "offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
    "Tensor? per_sample_weights=None, bool include_last_offset=False, int "
    "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
    +[](const Tensor& weight, const Tensor& indices, const Tensor& offsets,
        bool scale, int64_t mode, bool sparse, const Tensor& factors, bool last,
        int64_t padding_idx) {
      autograd::NoGrad guard;
      return bags(weight, indices, offsets, scale, mode, sparse, factors, last,
                  padding_idx);
    });
HOTARU_OP(
    "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq, int mode, bool sparse, Tensor? "
    "per_sample_weights, bool include_last_offset, int? padding_idx) -> "
    "(Tensor, Tensor, Tensor, Tensor)",
    +[](const Tensor& weight, const Tensor& indices, const Tensor& offsets,
        bool scale, int64_t mode, bool sparse, const Tensor& factors, bool last,
        Optional<int64_t> padding_idx) {
      return bags(weight, indices, offsets, scale, mode, sparse, factors, last,
                  row_of(padding_idx, weight));
    });

}  // namespace hotaru
