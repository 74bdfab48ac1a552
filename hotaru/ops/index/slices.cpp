#include "hotaru/ops/index/slices.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/index/gather.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/reorder.h"
#include "hotaru/ops/index/index_dtype.h"
#include "hotaru/ops/index/slices_grad.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const Kernel& kIndexSelect = kernel("index_select");
const Kernel& kWrite = kernel("index_write");

int64_t extent(const Tensor& t, int64_t dim) {
  return t.dim() ? t.sizes()[size_t(dim)] : 1;
}
Tensor as_vector(const Tensor& t) {
  return t.dim() ? t : view(t, Dims{1});
}

/// Sizes but for the one along `dim`.
Dims beside(const Tensor& t, int64_t dim) {
  Dims sizes(t.sizes());
  if (!sizes.empty()) sizes.erase(size_t(dim));
  return sizes;
}

/// Shape of self with as many slices as there are indices.
Dims slices_shape(const Tensor& self, int64_t dim, const Tensor& index) {
  Dims shape(self.sizes());
  if (!shape.empty()) shape[size_t(dim)] = index.numel();
  return shape;
}

// Kernels see a scalar as what it is here: a vector of one slice. They run for
// slices without elements, too, as they are who checks the indices.

Tensor select_slices(const Tensor& self, int64_t dim, const Tensor& index) {
  const Tensor out = allocate_result(slices_shape(self, dim, index),
                                     self.dtype(), self.device());
  if (index.numel() == 0) return out;
  autograd::NoGrad guard;
  const Tensor result = as_vector(out), from = as_vector(self);
  enqueue(kIndexSelect, {write(result), read(from), read(index)},
          SliceAttributes{.dim = dim, .op = "index_select"});
  return out;
}

void write_slices(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& source, WriteMode mode, const char* op,
                  bool wrap = false) {
  if (index.numel() == 0) return;
  autograd::NoGrad guard;
  const Tensor target = as_vector(untracked(self));
  const Tensor from = expand(source, slices_shape(target, dim, index));
  enqueue(kWrite, {update(target), read(index), read(from)},
          SliceAttributes{dim, mode, wrap, op});
}

void check_add(const Tensor& self, int64_t dim, const Tensor& index,
               const Tensor& source) {
  HOTARU_CHECK_AS(IndexError, index.dim() <= 1,
                  "index_add_(): Index is supposed to be a vector, but got "
                  "dim: ",
                  index.dim(), " with type: ", scalar_type_name(index.dtype()),
                  " and size: ", shape_text(index.sizes()));
  HOTARU_CHECK(is_index(index),
               "index_add_(): Expected dtype int32/int64 for index but got: ",
               scalar_type_name(index.dtype()));
  HOTARU_CHECK(self.dtype() == source.dtype(), "index_add_(): self (",
               scalar_type_name(self.dtype()), ") and source (",
               scalar_type_name(source.dtype()),
               ") must have the same scalar type");
  HOTARU_CHECK(
      self.dim() == source.dim() && beside(self, dim) == beside(source, dim),
      "source tensor shape must match self tensor shape, excluding "
      "the specified dimension. Got self.shape = ",
      shape_text(self.sizes()), " source.shape = ", shape_text(source.sizes()));
  HOTARU_CHECK(index.numel() == extent(source, dim),
               "index_add_(): Number of indices (", index.numel(),
               ") should be equal to source.size(dim): (", extent(source, dim),
               "), for dim: ", dim);
}

void check_copy(const Tensor& self, int64_t dim, const Tensor& index,
                const Tensor& source) {
  HOTARU_CHECK_AS(IndexError, index.dim() <= 1,
                  "index_copy_(): Index should have dimension 1 or 0 (got ",
                  index.dim(), ")");
  HOTARU_CHECK(is_index(index),
               "index_copy_(): Expected a long tensor for index, but got ",
               scalar_type_name(index.dtype()));
  HOTARU_CHECK(self.dtype() == source.dtype(),
               "index_copy_(): self and source expected to have the same "
               "dtype, but got (self) ",
               scalar_type_name(self.dtype()), " and (source) ",
               scalar_type_name(source.dtype()));
  HOTARU_CHECK_AS(IndexError, source.dim() > 0 || index.numel() == 1,
                  "index_copy_(): When source is scalar, index should have one "
                  "element (got ",
                  index.numel(), ")");
  HOTARU_CHECK_AS(
      IndexError,
      source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
      "index_copy_(): When source and destination are not scalars, their "
      "dimensionality must match. Source dimensionality (",
      source.dim(), "), destination dimensionality (", self.dim(), ")");
  HOTARU_CHECK(beside(self, dim) == beside(source, dim),
               "index_copy_(): Source/destination tensor must have same slice "
               "shapes. Destination slice shape: ",
               shape_text(beside(self, dim)), " at dimension ", dim,
               " and source slice shape: ", shape_text(beside(source, dim)),
               " at dimension 0.");
  HOTARU_CHECK_AS(IndexError, index.numel() == extent(source, dim),
                  "index_copy_(): Number of indices (", index.numel(),
                  ") should be equal to source.size(dim) (",
                  extent(source, dim), ")");
}

Tensor filling(const Tensor& self, const Tensor& value) {
  HOTARU_CHECK(value.dim() == 0,
               "index_fill_ only supports a 0-dimensional value tensor, but "
               "got tensor with ",
               value.dim(), " dimension(s).");
  autograd::NoGrad guard;
  return to(value, self.dtype(), self.device());
}

/// Writes into self and records; `out` is self, or a copy of it.
void add_into(const Tensor& out, const Tensor& self, int64_t dim,
              const Tensor& index, const Tensor& source, const Scalar& alpha) {
  dim = wrap_dim(dim, self.dim());
  check_add(self, dim, index, source);
  check_bound(self.dtype(), alpha);
  {
    autograd::NoGrad guard;
    // The number is one of the source's dtype: 2.5 is 2 beside integers.
    const Tensor scaled =
        alpha == Scalar(1)
            ? source
            : mul(source, full({}, alpha, TensorOptions(source)));
    // Vectors have the text of another operator's error.
    write_slices(out, dim, index, scaled, WriteMode::kAdd,
                 out.dim() <= 1 ? "index_select" : "index_add_");
  }
  if (autograd::needs_grad(self, source))
    grad::index_add(out, self, dim, index, source, alpha);
}

void copy_into(const Tensor& out, const Tensor& self, int64_t dim,
               const Tensor& index, const Tensor& source) {
  dim = wrap_dim(dim, self.dim());
  check_copy(self, dim, index, source);
  write_slices(out, dim, index, as_vector(detach(source)), WriteMode::kAssign,
               "index_copy_");
  if (autograd::needs_grad(self, source))
    grad::index_copy(out, self, dim, index, source);
}

/// `recorded` is value if it is a tensor of the user's.
void fill_into(const Tensor& out, const Tensor& self, int64_t dim,
               const Tensor& index, const Tensor& value,
               const Tensor& recorded) {
  HOTARU_CHECK(index.dim() <= 1, "Index has to be a vector/scalar");
  HOTARU_CHECK_AS(IndexError, is_index(index),
                  "index_fill_(): Expected dtype int64 for index.");
  dim = wrap_dim(dim, self.dim());
  write_slices(out, dim, index, filling(self, value), WriteMode::kAssign,
               "index_fill_", true);
  if (autograd::needs_grad(self, recorded))
    grad::index_fill(out, self, dim, index, recorded);
}

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  dim = wrap_dim(dim, self.dim());
  HOTARU_CHECK_AS(IndexError, index.dim() <= 1,
                  "index_select(): Index is supposed to be a vector");
  HOTARU_CHECK(is_index(index),
               "index_select(): Expected dtype int32 or int64 for index");
  HOTARU_CHECK(self.dim() > 0 || index.numel() == 1,
               "index_select(): Index to scalar can have only 1 value, got ",
               index.numel(), " value(s)");
  const Tensor out = select_slices(self, dim, index);
  if (autograd::needs_grad(self)) grad::index_select(out, self, dim, index);
  return out;
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index,
                 const Tensor& source, const Scalar& alpha) {
  const Tensor out = row_major_copy(self);
  add_into(out, self, dim, index, source, alpha);
  return out;
}
Tensor index_add_(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& source, const Scalar& alpha) {
  autograd::check_inplace(self, source);
  check_written(self);
  check_apart(self, index);
  check_apart(self, source);
  add_into(self, self, dim, index, source, alpha);
  self.bump_version();
  return self;
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& source) {
  const Tensor out = row_major_copy(self);
  copy_into(out, self, dim, index, source);
  return out;
}
Tensor index_copy_(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& source) {
  autograd::check_inplace(self, source);
  check_written(self);
  check_apart(self, index);
  check_apart(self, source);
  copy_into(self, self, dim, index, source);
  self.bump_version();
  return self;
}

namespace {

/// Repeated elements are written once each time; PyTorch warns of them.
void check_fill_(const Tensor& self, const Tensor& index,
                 const Tensor& value = {}) {
  autograd::check_inplace(self, value);
  if (repeats(self)) warn_of_repeats("index_fill_");
  check_apart(self, index);
}

Tensor fill_number(const Tensor& self, const Scalar& value) {
  HOTARU_CHECK(self.is_complex() || !value.is_complex(),
               "index_fill_(): Converting complex Scalar to non-complex type "
               "is not supported");
  return number_like(self, value);
}

}  // namespace

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index,
                  const Scalar& value) {
  const Tensor out = clone(detach(self));
  fill_into(out, self, dim, index, fill_number(self, value), {});
  return out;
}
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& value) {
  const Tensor out = clone(detach(self));
  fill_into(out, self, dim, index, value, value);
  return out;
}
Tensor index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                   const Scalar& value) {
  check_fill_(self, index);
  fill_into(self, self, dim, index, fill_number(self, value), {});
  self.bump_version();
  return self;
}
Tensor index_fill_(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& value) {
  check_fill_(self, index, value);
  fill_into(self, self, dim, index, value, value);
  self.bump_version();
  return self;
}

Tensor embedding(const Tensor& weight, const Tensor& indices,
                 int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  HOTARU_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  HOTARU_CHECK(is_index(indices),
               "Expected tensor for argument #1 'indices' to have one of the "
               "following scalar types: Long, Int; but got torch.",
               scalar_type_name(indices.dtype()),
               "Tensor instead (while checking arguments for embedding)");
  HOTARU_CHECK(!sparse || !autograd::needs_grad(weight),
               "embedding: sparse gradients are not supported");
  Tensor out;
  {
    autograd::NoGrad guard;
    out = select_slices(weight, 0, reshape(indices, Dims{-1}));
  }
  if (indices.dim() != 1) {
    Dims shape(indices.sizes());
    shape.push_back(weight.size(1));
    out.impl()->set_geometry(shape, contiguous_strides(shape), 0);
  }
  if (!autograd::needs_grad(weight)) return out;
  HOTARU_CHECK(!weight.is_complex(),
               "embedding does not support automatic differentiation for "
               "outputs with complex dtype.");
  grad::embedding(out, weight, indices, padding_idx, scale_grad_by_freq);
  return out;
}

Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices,
                                int64_t num_weights, int64_t padding_idx,
                                bool scale_grad_by_freq) {
  const Tensor rows = reshape(indices, Dims{-1});
  Tensor g = reshape(grad, Dims{rows.numel(), grad.size(-1)});
  if (padding_idx >= 0)
    g = masked_fill(g, unsqueeze(eq(rows, Scalar(padding_idx)), 1), 0);
  if (scale_grad_by_freq) {
    // Counted in a type that has the numbers above 256, too.
    const DType wide = promote_types(g.dtype(), DType::kFloat32);
    const Tensor one = ones(Dims{rows.numel()}, {wide, g.device()});
    const Tensor count =
        index_add(zeros(Dims{num_weights}, {wide, g.device()}), 0, rows, one);
    g = to(div(g, unsqueeze(index_select(count, 0, rows), 1)), g.dtype());
  }
  return index_add(zeros(Dims{num_weights, grad.size(-1)}, TensorOptions(grad)),
                   0, rows, g);
}

}  // namespace hotaru
