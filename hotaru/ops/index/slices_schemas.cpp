// Names of the operators on slices, and those made of them alone.
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/index/index_dtype.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sort/search.h"

namespace hotaru {
namespace {

/// 0 repeats[0] times, 1 repeats[1] times ...: marks where each number starts
/// and adds up the marks.
Tensor repeated_positions(const Tensor& repeats) {
  HOTARU_CHECK(repeats.dim() == 1,
               "repeat_interleave only accept 1D vector as repeat");
  HOTARU_CHECK(is_index(repeats), "repeats has to be Long or Int tensor");
  autograd::NoGrad guard;
  if (repeats.numel() == 0) return empty(Dims{0}, TensorOptions(repeats));
  constexpr const char* kWhy = "the length of the result";
  HOTARU_CHECK(host_value(amin(repeats), kWhy).to_int() >= 0,
               "repeats can not be negative");
  const Tensor ends = cumsum(repeats, 0);
  const int64_t total = host_value(select(ends, 0, -1), kWhy).to_int();
  // One slot more takes the marks of empty trailing groups.
  const TensorOptions options(DType::kInt64, repeats.device());
  const Tensor marks = zeros(Dims{total + 1}, options);
  scatter_add_(marks, 0, ends, ones(ends.sizes(), options));
  return to(narrow(cumsum(marks, 0), 0, 0, total), repeats.dtype());
}

}  // namespace

Tensor embedding_renorm_(const Tensor& weight, const Tensor& indices,
                         double max_norm, double norm_type) {
  HOTARU_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  autograd::NoGrad guard;
  const Tensor rows = std::get<0>(unique(indices));
  const Tensor old = index_select(weight, 0, rows);
  const Tensor norms =
      linalg_vector_norm(old, Scalar(norm_type), Dims{1}, true);
  // The small number keeps a row from ending above the norm by rounding.
  const Tensor scale = mul(reciprocal(add(norms, Scalar(1e-7))), max_norm);
  const Tensor shrunk = mul(old, scale);
  index_copy_(weight, 0, rows, where(gt(norms, Scalar(max_norm)), shrunk, old));
  return weight;
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats,
                         Optional<int64_t> dim) {
  if (!dim) return repeat_interleave(reshape(self, Dims{-1}), repeats, 0);
  const int64_t d = wrap_dim(*dim, self.dim());
  HOTARU_CHECK(repeats >= 0, "Repeats must be non-negative");
  if (self.dim() == 0) {
    wrap_dim(d + 1, 0);  // where PyTorch puts the copies' dimension
    return repeat_interleave(reshape(self, Dims{-1}), repeats, 0);
  }
  Dims shape(self.sizes());
  shape.insert(size_t(d) + 1, repeats);
  const Tensor spread = clone(expand(unsqueeze(self, d + 1), shape));
  Dims merged(self.sizes());
  merged[size_t(d)] *= repeats;
  return view(contiguous(spread), merged);
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                         Optional<int64_t> dim) {
  if (!dim) return repeat_interleave(reshape(self, Dims{-1}), repeats, 0);
  HOTARU_CHECK(repeats.dim() <= 1, "repeats must be 0-dim or 1-dim tensor");
  const int64_t d = wrap_dim(*dim, self.dim(), false);
  const int64_t size = self.size(d);
  const bool one = repeats.dim() == 0 || repeats.numel() == 1;
  HOTARU_CHECK(one || repeats.numel() == size,
               "repeats must have the same size as input along dim, but got "
               "repeats.size(0) = ",
               repeats.numel(), " and input.size(", d, ") = ", size);
  const Tensor each =
      one ? expand(reshape(repeats, Dims{1}), Dims{size}) : repeats;
  return index_select(self, d, repeated_positions(each));
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  HOTARU_CHECK(self.dtype() == DType::kInt64,
               "one_hot is only applicable to index tensor of type "
               "LongTensor.");
  Dims shape(self.sizes());
  shape.push_back(num_classes);
  if (self.numel() == 0) {
    HOTARU_CHECK(num_classes > 0,
                 "Can not infer total number of classes from empty tensor.");
    return empty(shape, TensorOptions(self));
  }
  // On other devices scatter_ finds classes out of range, and nothing waits.
  const bool looks = num_classes == -1 || self.device().is_cpu();
  if (looks) {
    const auto [lowest, highest] = host_range(self, "the number of classes");
    HOTARU_CHECK(lowest.to_int() >= 0, "Class values must be non-negative.");
    if (num_classes == -1) shape.back() = highest.to_int() + 1;
    HOTARU_CHECK(highest.to_int() < shape.back(),
                 "Class values must be smaller than num_classes.");
  }
  const Tensor out = zeros(shape, TensorOptions(self));
  return scatter_(out, -1, unsqueeze(self, -1), Scalar(1));
}

namespace {

using Filled = Tensor (*)(const Tensor&, int64_t, const Tensor&, const Scalar&);
using FilledFrom = Tensor (*)(const Tensor&, int64_t, const Tensor&,
                              const Tensor&);

HOTARU_OP("index_select(Tensor self, int dim, Tensor index) -> Tensor",
          index_select);
HOTARU_OP(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar "
    "alpha=1) -> Tensor",
    index_add);
HOTARU_OP(
    "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, "
    "Scalar alpha=1) -> Tensor(a!)",
    index_add_);
HOTARU_OP(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    index_copy);
HOTARU_OP(
    "index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> "
    "Tensor(a!)",
    index_copy_);
HOTARU_OP(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) "
    "-> Tensor",
    static_cast<FilledFrom>(index_fill));
HOTARU_OP(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) "
    "-> Tensor",
    static_cast<Filled>(index_fill));
HOTARU_OP(
    "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor "
    "value) -> Tensor(a!)",
    static_cast<FilledFrom>(index_fill_));
HOTARU_OP(
    "index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar "
    "value) -> Tensor(a!)",
    static_cast<Filled>(index_fill_));
HOTARU_OP(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
    "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    embedding);
HOTARU_OP(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt "
    "num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
    embedding_dense_backward);
HOTARU_OP(
    "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float "
    "norm_type) -> Tensor(a!)",
    embedding_renorm_);
HOTARU_OP(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? "
    "dim=None, *, SymInt? output_size=None) -> Tensor",
    +[](const Tensor& self, const Tensor& repeats, Optional<int64_t> dim,
        Optional<int64_t> size) {
      const Tensor out = repeat_interleave(self, repeats, dim);
      // PyTorch makes nothing of nothing, whatever size is asked for.
      const bool nothing =
          dim && self.dim() > 0 ? self.size(*dim) == 0 : self.numel() == 0;
      HOTARU_CHECK(!size || nothing || *size == out.size(dim.value_or(0)),
                   "allocated size does not match required size");
      return out;
    });
HOTARU_OP(
    "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, "
    "*, SymInt? output_size=None) -> Tensor",
    +[](const Tensor& self, int64_t repeats, Optional<int64_t> dim,
        Optional<int64_t> size) {
      const Tensor out = repeat_interleave(self, repeats, dim);
      const int64_t made = out.size(dim.value_or(0));
      HOTARU_CHECK(!size || *size == made,
                   "repeat_interleave: Invalid output_size, expected ", made,
                   " but got ", *size);
      return out;
    });
HOTARU_OP(
    "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> "
    "Tensor",
    +[](const Tensor& repeats, Optional<int64_t> size) {
      const Tensor out = repeated_positions(repeats);
      HOTARU_CHECK(!size || repeats.numel() == 0 || *size == out.numel(),
                   "allocated size does not match required size");
      return out;
    });
HOTARU_OP("one_hot(Tensor self, int num_classes=-1) -> Tensor", one_hot);

}  // namespace
}  // namespace hotaru
