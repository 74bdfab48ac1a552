#include "hotaru/ops/index/gather.h"

#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/index/gather.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/index/gather_grad.h"
#include "hotaru/ops/index/index_dtype.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

const Kernel& kGather = kernel("gather");
const Kernel& kScatter = kernel("scatter");

void check_index_dtype(const char* op, const Tensor& index) {
  HOTARU_CHECK(is_index(index), op, "(): Expected dtype int32/int64 for index");
}

/// Scalars count as vectors of one element.
int64_t rank(const Tensor& t) {
  return std::max<int64_t>(1, t.dim());
}
int64_t extent(const Tensor& t, int64_t dim) {
  return t.dim() ? t.sizes()[size_t(dim)] : 1;
}
Tensor as_vector(const Tensor& t) {
  return t.dim() ? t : view(t, Dims{1});
}

/// True if every size of a, but for dimension `except`, is at most b's.
bool fits(const Tensor& a, const Tensor& b, int64_t except) {
  for (int64_t d = 0; d < rank(a); ++d)
    if (d != except && extent(a, d) > extent(b, d)) return false;
  return true;
}

void check_gather(const Tensor& self, int64_t dim, const Tensor& index) {
  if (index.numel() == 0) return;
  check_index_dtype("gather", index);
  HOTARU_CHECK(rank(index) == rank(self),
               "Index tensor must have the same number of dimensions as input "
               "tensor");
  for (int64_t d = 0; d < rank(self); ++d)
    HOTARU_CHECK(d == dim || extent(index, d) <= extent(self, d),
                 "Size does not match at dimension ", d, " expected index ",
                 shape_text(index.sizes()), " to be no larger than self ",
                 shape_text(self.sizes()), " apart from dimension ", dim);
}

/// Checks and writes; src has been given self's dtype already if it was a
/// number.
void write_at(const Tensor& self, int64_t dim, const Tensor& index,
              const Tensor& src, WriteMode mode, bool number = false) {
  HOTARU_CHECK(self.dtype() == src.dtype(),
               "scatter(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return;
  check_written(self);
  check_apart(self, index);
  check_apart(self, src);
  check_index_dtype("scatter", index);
  HOTARU_CHECK(rank(index) == rank(self),
               "Index tensor must have the same number of dimensions as self "
               "tensor");
  HOTARU_CHECK(number || rank(index) == rank(src),
               "Index tensor must have the same number of dimensions as src "
               "tensor");
  const bool inside =
      fits(index, self, dim) && (number || fits(index, src, -1));
  HOTARU_CHECK(inside, "Expected index ", shape_text(index.sizes()),
               " to be no larger than self ", shape_text(self.sizes()),
               " apart from dimension ", dim,
               number ? "" : " and to be no larger size than src ",
               number ? std::string() : concat(shape_text(src.sizes())));
  autograd::NoGrad guard;
  const Tensor target = as_vector(untracked(self)), at = as_vector(index);
  const Tensor source = number ? expand(src, at.sizes()) : as_vector(src);
  enqueue(kScatter, {update(target), read(at), read(source)},
          ScatterAttributes{dim, mode});
}

WriteMode add_or_multiply(const std::string& reduce) {
  HOTARU_CHECK(reduce == "add" || reduce == "multiply",
               "reduce argument must be either add or multiply.");
  return reduce == "add" ? WriteMode::kAdd : WriteMode::kMultiply;
}

/// scatter_ with reduce=: PyTorch has no gradient for it either.
Tensor scatter_with(const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src, const std::string& reduce,
                    bool is_number) {
  autograd::check_inplace(self, src);
  dim = wrap_dim(dim, self.dim());
  write_at(self, dim, index, src, add_or_multiply(reduce), is_number);
  refuse_gradient("scatter", self, {self, src});
  self.bump_version();
  return self;
}

/// The value that changes nothing, to start from without self.
Scalar neutral(const std::string& reduce, DType dtype) {
  if (reduce == "prod") return 1;
  if (reduce == "sum" || reduce == "mean") return 0;
  const bool largest = reduce == "amax";
  Scalar out;
  visit_dtype(RealAndBoolTypes{}, dtype, "scatter_reduce", [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    if constexpr (kIsFloating<T>) {
      const double inf = std::numeric_limits<double>::infinity();
      out = largest ? -inf : inf;
    } else {
      out = int64_t(largest ? Limits::lowest() : Limits::max());
    }
  });
  return out;
}

WriteMode mode_of(const std::string& reduce) {
  if (reduce == "sum" || reduce == "mean") return WriteMode::kAdd;
  if (reduce == "prod") return WriteMode::kMultiply;
  if (reduce == "amax") return WriteMode::kMax;
  HOTARU_CHECK(reduce == "amin",
               "reduce argument must be either sum, prod, mean, amax or amin, "
               "got ",
               reduce);
  return WriteMode::kMin;
}

/// A dtype for sums and counts of narrow numbers.
DType counted(DType dtype) {
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16)
    return DType::kFloat32;
  return is_integral(dtype, false) ? DType::kInt64 : dtype;
}

/// self's elements replaced by their reduction with src.
void reduce_at(const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& src, const std::string& reduce,
               bool include_self) {
  if (const DType wide = counted(self.dtype());
      reduce == "mean" && wide != self.dtype() && src.dtype() == self.dtype()) {
    autograd::NoGrad guard;
    check_apart(self, src);
    const Tensor means = to(self, wide);
    reduce_at(means, dim, index, to(src, wide), reduce, include_self);
    copy_(untracked(self), means);
    return;
  }
  const WriteMode mode = mode_of(reduce);
  const Tensor start = number_like(self, neutral(reduce, self.dtype()));
  if (!include_self)
    write_at(self, dim, index, start, WriteMode::kAssign, true);
  write_at(self, dim, index, src, mode);
  if (reduce != "mean") return;
  autograd::NoGrad guard;
  const Tensor count = include_self ? ones_like(self) : zeros_like(self);
  write_at(count, dim, index, number_like(self, 1), WriteMode::kAdd, true);
  const Tensor divisor = masked_fill(count, eq(count, Scalar(0)), 1);
  const bool integral = is_integral(self.dtype(), true);
  copy_(untracked(self), div(self, divisor, integral ? "floor" : ""));
}

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index,
              bool sparse_grad) {
  dim = wrap_dim(dim, self.dim());
  check_gather(self, dim, index);
  const Tensor out =
      allocate_result(index.sizes(), self.dtype(), self.device());
  if (index.numel() > 0) {
    autograd::NoGrad guard;
    const Tensor result = as_vector(out), in = as_vector(self),
                 at = as_vector(index);
    enqueue(kGather, {write(result), read(in), read(at)},
            ScatterAttributes{dim});
  }
  if (autograd::needs_grad(self))
    grad::gather(out, self, dim, index, sparse_grad);
  return out;
}

Tensor scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                const Tensor& src) {
  autograd::check_inplace(self, src);
  dim = wrap_dim(dim, self.dim());
  write_at(self, dim, index, src, WriteMode::kAssign);
  if (autograd::needs_grad(self, src))
    grad::scatter(self, self, dim, index, src);
  self.bump_version();
  return self;
}

Tensor scatter_(const Tensor& self, int64_t dim, const Tensor& index,
                const Scalar& value) {
  autograd::check_inplace(self);
  dim = wrap_dim(dim, self.dim());
  write_at(self, dim, index, number_like(self, value), WriteMode::kAssign,
           true);
  if (autograd::needs_grad(self)) grad::scatter(self, self, dim, index, {});
  self.bump_version();
  return self;
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& src) {
  dim = wrap_dim(dim, self.dim());
  const Tensor out = row_major_copy(self);
  write_at(out, dim, index, src, WriteMode::kAssign);
  if (autograd::needs_grad(self, src))
    grad::scatter(out, self, dim, index, src);
  return out;
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index,
               const Scalar& value) {
  dim = wrap_dim(dim, self.dim());
  const Tensor out = row_major_copy(self);
  write_at(out, dim, index, number_like(self, value), WriteMode::kAssign, true);
  if (autograd::needs_grad(self)) grad::scatter(out, self, dim, index, {});
  return out;
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src) {
  dim = wrap_dim(dim, self.dim());
  const Tensor out = row_major_copy(self);
  write_at(out, dim, index, src, WriteMode::kAdd);
  if (autograd::needs_grad(self, src))
    grad::scatter_add(out, self, dim, index, src);
  return out;
}

Tensor scatter_add_(const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src) {
  autograd::check_inplace(self, src);
  dim = wrap_dim(dim, self.dim());
  write_at(self, dim, index, src, WriteMode::kAdd);
  if (autograd::needs_grad(self, src))
    grad::scatter_add(self, self, dim, index, src);
  self.bump_version();
  return self;
}

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& src, const std::string& reduce,
                      bool include_self) {
  dim = wrap_dim(dim, self.dim());
  const Tensor out = row_major_copy(self);
  reduce_at(out, dim, index, src, reduce, include_self);
  if (autograd::needs_grad(self, src))
    grad::scatter_reduce(out, self, dim, index, src, reduce, include_self);
  return out;
}

Tensor scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& src, const std::string& reduce,
                       bool include_self) {
  autograd::check_inplace(self, src);
  // The gradient needs the values that are overwritten here.
  if (autograd::needs_grad(self, src))
    return copy_(self, scatter_reduce(clone(self), dim, index, src, reduce,
                                      include_self));
  reduce_at(self, wrap_dim(dim, self.dim()), index, src, reduce, include_self);
  self.bump_version();
  return self;
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices,
                      Optional<int64_t> dim) {
  if (!dim)
    return gather(reshape(self, Dims{-1}), 0, reshape(indices, Dims{-1}));
  HOTARU_CHECK(self.dim() == indices.dim(),
               "torch.take_along_dim(): input and indices should have the same "
               "number of dimensions, but got ",
               self.dim(), " dimensions for input, and ", indices.dim(),
               " dimensions for indices");
  HOTARU_CHECK(
      indices.dtype() == DType::kInt64,
      "torch.take_along_dim(): dtype of indices should be Long but got ",
      scalar_type_name(indices.dtype()));
  const int64_t d = wrap_dim(*dim, self.dim(), false);
  // Everything but the dimension itself is broadcast.
  Dims self_shape(self.sizes()), index_shape(indices.sizes());
  self_shape[size_t(d)] = index_shape[size_t(d)] = 1;
  const Dims shape = broadcast_shapes(self_shape, index_shape);
  self_shape = index_shape = shape;
  self_shape[size_t(d)] = self.size(d);
  index_shape[size_t(d)] = indices.size(d);
  const int64_t size = self.size(d);
  const Tensor at =
      size > 0 ? remainder(indices, elementwise::operand(size, indices))
               : indices;
  return gather(expand(self, self_shape), d, expand(at, index_shape));
}

namespace {

using Src = Tensor (*)(const Tensor&, int64_t, const Tensor&, const Tensor&);
using Number = Tensor (*)(const Tensor&, int64_t, const Tensor&, const Scalar&);
using Reduce = const std::string&;

HOTARU_OP(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> "
    "Tensor",
    gather);
HOTARU_OP(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    static_cast<Src>(scatter));
HOTARU_OP(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> "
    "Tensor",
    static_cast<Number>(scatter));
constinit OnceWarning reduce_deprecated{
    "The reduce argument of torch.scatter with Tensor src is deprecated and "
    "will "
    "be removed in a future PyTorch release. Use torch.scatter_reduce instead "
    "for more reduction options."};
HOTARU_OP(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str "
    "reduce) -> Tensor",
    +[](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
        Reduce reduce) {
      reduce_deprecated.give();
      return scatter_with(clone(self), dim, index, src, reduce, false);
    });
HOTARU_OP(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, "
    "*, str reduce) -> Tensor",
    +[](const Tensor& self, int64_t dim, const Tensor& index,
        const Scalar& value, Reduce reduce) {
      return scatter_with(clone(self), dim, index, number_like(self, value),
                          reduce, true);
    });
HOTARU_OP(
    "scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> "
    "Tensor(a!)",
    static_cast<Src>(scatter_));
HOTARU_OP(
    "scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> "
    "Tensor(a!)",
    static_cast<Number>(scatter_));
HOTARU_OP(
    "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, "
    "str reduce) -> Tensor(a!)",
    +[](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
        Reduce reduce) {
      reduce_deprecated.give();
      return scatter_with(self, dim, index, src, reduce, false);
    });
HOTARU_OP(
    "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar "
    "value, *, str reduce) -> Tensor(a!)",
    +[](const Tensor& self, int64_t dim, const Tensor& index,
        const Scalar& value, Reduce reduce) {
      return scatter_with(self, dim, index, number_like(self, value), reduce,
                          true);
    });
HOTARU_OP(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    scatter_add);
HOTARU_OP(
    "scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> "
    "Tensor(a!)",
    scatter_add_);
HOTARU_OP(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str "
    "reduce, *, bool include_self=True) -> Tensor",
    scatter_reduce);
HOTARU_OP(
    "scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, "
    "str reduce, *, bool include_self=True) -> Tensor(a!)",
    scatter_reduce_);
HOTARU_OP(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    take_along_dim);

}  // namespace
}  // namespace hotaru
