#include "hotaru/ops/index/index.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/index/index.h"
#include "hotaru/core/error.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/index/index_dtype.h"
#include "hotaru/ops/index/index_grad.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/overlap.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/determinism.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

const Kernel& kIndex = kernel("index");
const Kernel& kIndexPut = kernel("index_put");

bool is_mask(const Tensor& t) {
  return t.dtype() == DType::kBool || t.dtype() == DType::kUInt8;
}

/// An index on self's device: the CPU's stand beside tensors of every device.
Tensor beside(const Tensor& self, const Tensor& index) {
  if (index.device() == self.device()) return index;
  HOTARU_CHECK(index.device().is_cpu(),
               "indices should be either on cpu or on the same device as the "
               "indexed tensor (",
               self.device(), ")");
  return to(index, self.device());
}

/// One index a dimension of self, masks replaced by the positions they stand
/// for; undefined ones for full slices.
Tensors without_masks(const Tensor& self, const Tensors& indices) {
  Tensors out;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Tensor& t = indices[i];
    if (!t.defined()) {
      out.emplace_back();
      continue;
    }
    HOTARU_CHECK_AS(IndexError, is_mask(t) || is_index(t),
                    "tensors used as indices must be long, int, byte or bool "
                    "tensors");
    if (!is_mask(t)) {
      out.push_back(beside(self, to(t, DType::kInt64)));
      continue;
    }
    if (t.dtype() == DType::kUInt8) warn(kByteIndex);
    const size_t first = out.size();
    HOTARU_CHECK_AS(IndexError, first + t.sizes().size() <= self.sizes().size(),
                    "too many indices for tensor of dimension ", self.dim());
    for (size_t d = 0; d < t.sizes().size(); ++d)
      HOTARU_CHECK_AS(IndexError, t.sizes()[d] == self.sizes()[first + d],
                      "The shape of the mask ", shape_text(t.sizes()),
                      " at index ", d,
                      " does not match the shape of the indexed tensor ",
                      shape_text(self.sizes()), " at index ", first + d);
    const Tensor positions = beside(self, nonzero(t));
    for (int64_t d = 0; d < t.dim(); ++d)
      out.push_back(select(positions, 1, d));
  }
  HOTARU_CHECK_AS(IndexError, out.size() <= self.sizes().size(),
                  "too many indices for tensor of dimension ", self.dim());
  return out;
}

/// Operands that the kernels want: the tensor with its indexed dimensions
/// together, the indices in one shape, and the shape of the result.
struct Plan {
  Tensor self;
  Tensors indices;
  Dims shape;
  int64_t before = 0;
};

Plan plan(const Tensor& self, const Tensors& given) {
  Tensors per_dim = without_masks(self, given);
  per_dim.resize(self.sizes().size());
  Plan out;
  Dims common, order, rest;
  int64_t first = -1, last = -1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const Tensor& t = per_dim[size_t(d)];
    if (!t.defined()) {
      rest.push_back(d);
      continue;
    }
    HOTARU_CHECK_AS(IndexError, self.size(d) > 0 || t.numel() == 0,
                    "index is out of bounds for dimension with size 0");
    if (first < 0) first = d;
    last = d;
    out.indices.push_back(t);
    order.push_back(d);
  }
  HOTARU_CHECK_AS(IndexError, !out.indices.empty() || self.dim() == 0,
                  "index: at least one index must be a tensor");
  try {
    for (const Tensor& t : out.indices)
      common = broadcast_shapes(common, t.sizes());
  } catch (const Error&) {
    std::string shapes;
    for (const Tensor& t : out.indices)
      shapes += concat(shapes.empty() ? "" : ", ", shape_text(t.sizes()));
    fail<IndexError>(
        "shape mismatch: indexing tensors could not be broadcast together "
        "with shapes ",
        shapes);
  }
  for (Tensor& t : out.indices) t = expand(t, common);
  const bool neighbours = last - first + 1 == int64_t(out.indices.size());
  out.before = neighbours ? std::max<int64_t>(first, 0) : 0;
  // Dimensions before the indices, the indexed ones, the others.
  for (size_t i = 0; i < rest.size(); ++i)
    if (int64_t(i) < out.before)
      order.insert(i, rest[i]);
    else
      order.push_back(rest[i]);
  out.self = permute(self, order);
  for (size_t i = 0; i < order.size(); ++i) {
    if (int64_t(i) == out.before)
      for (int64_t size : IntSpan(common)) out.shape.push_back(size);
    const bool indexed =
        int64_t(i) >= out.before && i < size_t(out.before) + out.indices.size();
    if (!indexed) out.shape.push_back(self.sizes()[size_t(order[i])]);
  }
  return out;
}

void run(const Kernel& kernel, const Operand& target, const Operand& other,
         const Tensors& indices, const IndexAttributes& attributes) {
  std::vector<Operand> operands{target, other};
  for (const Tensor& t : indices) operands.push_back(read(t));
  enqueue_list(kernel, operands, attributes);
}

/// x[mask] with a mask of x's shape: no positions are needed.
bool is_whole_mask(const Tensor& self, const Tensors& indices) {
  return indices.size() == 1 && indices[0].defined() &&
         indices[0].dtype() == DType::kBool && self.dim() > 0 &&
         same(indices[0].sizes(), self.sizes());
}

Tensor read_at(const Tensor& self, const Tensors& indices, bool flat) {
  autograd::NoGrad guard;
  const Plan p = plan(self, indices);
  const Tensor out = allocate(p.shape, self.dtype(), self.device());
  if (p.indices.empty()) return copy_(out, self);
  if (out.numel() == 0) return out;
  run(kIndex, write(out), read(p.self), p.indices,
      {.before = p.before, .flat = flat});
  return out;
}

void write_at(const Tensor& self, const Tensors& indices, const Tensor& values,
              bool accumulate, bool flat) {
  autograd::NoGrad guard;
  const Tensor target = untracked(self);
  if (!accumulate && values.numel() == 1 && is_whole_mask(self, indices)) {
    const Tensor mask = beside(self, indices[0]);
    copy_(target, where(mask, reshape(values, {}), target));
    return;
  }
  check_apart(self, values);
  for (const Tensor& t : indices)
    if (t.defined()) check_apart(self, t);
  const Plan p = plan(target, indices);
  Tensor source;
  try {
    source = expand(values, p.shape);
  } catch (const Error&) {
    fail("shape mismatch: value tensor of shape ", shape_text(values.sizes()),
         " cannot be broadcast to indexing result of shape ",
         shape_text(p.shape));
  }
  if (p.indices.empty()) {
    copy_(p.self, source);
    return;
  }
  if (source.numel() == 0) return;
  run(kIndexPut, update(p.self), read(source), p.indices,
      {.before = p.before, .accumulate = accumulate, .flat = flat});
}

/// The values in self's dtype: one value under a mask is cast as a number is,
/// others have it already. One without dimensions may come from another device.
Tensor put_values(const Tensor& self, const Tensors& indices,
                  const Tensor& given_values, bool accumulate) {
  const Tensor values =
      given_values.dim() == 0 ? to(given_values, self.device()) : given_values;
  if (self.dtype() == values.dtype()) return values;
  int64_t given = 0, masks = 0;
  for (const Tensor& index : indices) {
    given += index.defined();
    masks += index.defined() && index.dtype() == DType::kBool;
  }
  HOTARU_CHECK(!accumulate && values.numel() == 1 && given == 1 && masks == 1,
               "Index put requires the source and destination dtypes match, "
               "got ",
               scalar_type_name(self.dtype()), " for the destination and ",
               scalar_type_name(values.dtype()), " for the source.");
  return to(values, self.dtype());
}

void put_into(const Tensor& out, const Tensor& self, const Tensor& index,
              const Tensor& source, bool accumulate) {
  HOTARU_CHECK(index.dtype() == DType::kInt64,
               "put_(): Expected a long tensor for index, but got ",
               scalar_type_name(index.dtype()));
  HOTARU_CHECK(self.dtype() == source.dtype(),
               "put_(): self and source expected to have the same dtype, but "
               "got self.dtype = ",
               scalar_type_name(self.dtype()),
               " and source.dtype = ", scalar_type_name(source.dtype()));
  HOTARU_CHECK(index.numel() == source.numel(),
               "put_(): Expected source and index to have the same number of "
               "elements, but got source.numel() = ",
               source.numel(), ", index.numel() = ", index.numel());
  HOTARU_CHECK_AS(IndexError, self.numel() > 0 || index.numel() == 0,
                  "put_(): Tried to put elements into an empty tensor");
  if (!accumulate) require_deterministic("put_");
  check_written(out);
  check_apart(out, index);
  check_apart(out, source);
  {
    autograd::NoGrad guard;
    const Tensor target = untracked(out);
    const Tensor flat = reshape(target, Dims{-1});
    write_at(flat, {reshape(index, Dims{-1})}, reshape(source, Dims{-1}),
             accumulate, true);
    // reshape() copied if the target isn't dense.
    if (!target.is_contiguous()) copy_(target, view(flat, target.sizes()));
  }
  if (autograd::needs_grad(self, source))
    grad::put(out, self, index, source, accumulate);
}

}  // namespace

Tensor index(const Tensor& self, const Tensors& indices) {
  Tensor out;
  if (is_whole_mask(self, indices)) {
    autograd::NoGrad guard;
    out = masked_select(self, beside(self, indices[0]));
  } else {
    out = read_at(self, indices, false);
  }
  if (autograd::needs_grad(self)) grad::index(out, self, indices);
  return out;
}

Tensor index_put(const Tensor& self, const Tensors& indices,
                 const Tensor& given, bool accumulate) {
  const Tensor values = put_values(self, indices, given, accumulate);
  const Tensor out = clone(detach(self));
  write_at(out, indices, values, accumulate, false);
  if (autograd::needs_grad(self, values))
    grad::index_put(out, self, indices, values, accumulate);
  return out;
}

/// The mask that is the only index of a call, as one of all its dimensions;
/// undefined for other indices.
Tensor only_mask(const Tensor& self, const Tensors& indices) {
  Tensor mask;
  int64_t dims = 0;
  for (const Tensor& index : indices) {
    const bool masks = index.defined() && (index.dtype() == DType::kBool ||
                                           index.dtype() == DType::kUInt8);
    if (index.defined() && (mask.defined() || !masks)) return {};
    if (masks) mask = to(index, DType::kBool);
    dims += index.defined() ? index.dim() : 1;
  }
  for (; mask.defined() && dims < self.dim(); ++dims)
    mask = unsqueeze(mask, -1);
  return mask;
}

Tensor index_put_(const Tensor& self, const Tensors& indices,
                  const Tensor& given, bool accumulate) {
  if (repeats(self)) {
    warn_of_repeats("index_put_", "tensor[indices] = tensor");
    const Tensor mask = only_mask(self, indices);
    if (!accumulate && given.numel() == 1 && mask.defined())
      return masked_fill_(self, mask, reshape(given, {}));
  }
  autograd::check_inplace(self, given);
  const Tensor values = put_values(self, indices, given, accumulate);
  write_at(self, indices, values, accumulate, false);
  if (autograd::needs_grad(self, values))
    grad::index_put(self, self, indices, values, accumulate);
  self.bump_version();
  return self;
}

Tensor take(const Tensor& self, const Tensor& index) {
  HOTARU_CHECK(index.dtype() == DType::kInt64,
               "take(): Expected a long tensor for index, but got ",
               scalar_type_name(index.dtype()));
  HOTARU_CHECK_AS(IndexError, self.numel() > 0 || index.numel() == 0,
                  "take(): tried to take from an empty tensor");
  Tensor out;
  {
    autograd::NoGrad guard;
    out = read_at(reshape(self, Dims{-1}), {index}, true);
  }
  if (autograd::needs_grad(self)) grad::take(out, self, index);
  return out;
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source,
           bool accumulate) {
  const Tensor out = clone(detach(self));
  put_into(out, self, index, source, accumulate);
  return out;
}

Tensor put_(const Tensor& self, const Tensor& index, const Tensor& source,
            bool accumulate) {
  autograd::check_inplace(self, source);
  put_into(self, self, index, source, accumulate);
  self.bump_version();
  return self;
}

namespace {

HOTARU_OP("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index);
HOTARU_OP("index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor",
          index);
HOTARU_OP(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
    "accumulate=False) -> Tensor",
    index_put);
HOTARU_OP(
    "index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool "
    "accumulate=False) -> Tensor",
    index_put);
HOTARU_OP(
    "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool "
    "accumulate=False) -> Tensor(a!)",
    index_put_);
HOTARU_OP(
    "index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, "
    "bool accumulate=False) -> Tensor(a!)",
    index_put_);
HOTARU_OP(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool "
    "accumulate=False, bool unsafe=False) -> Tensor(a!)",
    +[](const Tensor& self, const Tensors& indices, const Tensor& values,
        bool accumulate,
        bool) { return index_put_(self, indices, values, accumulate); });
HOTARU_OP("take(Tensor self, Tensor index) -> Tensor", take);
HOTARU_OP(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> "
    "Tensor",
    put);
HOTARU_OP(
    "put_(Tensor(a!) self, Tensor index, Tensor source, bool "
    "accumulate=False) -> Tensor(a!)",
    put_);

}  // namespace
}  // namespace hotaru
