#include "hotaru/ops/shape/join.h"

#include <array>
#include <cstdlib>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/shape/join.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/memory_format.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/join_grad.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/result_place.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const Kernel& kCat = kernel("cat");
const Kernel& kFlip = kernel("flip");

/// An old rule: one-dimensional tensors without elements fit everywhere.
bool skipped(const Tensor& t) {
  return t.dim() == 1 && t.numel() == 0;
}

DType common_dtype(const Tensors& tensors) {
  for (const Tensor& t : tensors)
    if (t.dtype() != tensors[0].dtype()) return result_type(tensors);
  return tensors[0].dtype();
}

/// Shape of the result, and a check of every input's.
Dims cat_sizes(const Tensors& tensors, const Tensor& model, int64_t dim) {
  Dims sizes(model.sizes());
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (skipped(t)) continue;
    HOTARU_CHECK(t.dim() == model.dim(),
                 "Tensors must have same number of dimensions: got ",
                 model.dim(), " and ", t.dim());
    for (size_t d = 0; d < sizes.size(); ++d) {
      HOTARU_CHECK(int64_t(d) == dim || t.sizes()[d] == sizes[d],
                   "Sizes of tensors must match except in dimension ", dim,
                   ". Expected size ", sizes[d], " but got size ", t.sizes()[d],
                   " for tensor number ", i, " in the list.");
    }
    HOTARU_CHECK(!__builtin_add_overflow(total, t.sizes()[size_t(dim)], &total),
                 "cat: the sizes in dimension ", dim, " add up to too many");
  }
  sizes[size_t(dim)] = total;
  return sizes;
}

/// The format that all inputs have, or row-major.
MemoryFormat common_format(const Tensors& tensors) {
  MemoryFormat format = MemoryFormat::kContiguous;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (t.is_contiguous()) return MemoryFormat::kContiguous;
    const MemoryFormat own = suggested_format(t.sizes(), t.strides());
    if (i > 0 && own != format) return MemoryFormat::kContiguous;
    format = own;
  }
  return format;
}

/// Copies every input into its place in `out`.
void join(const Tensor& out, const Tensors& tensors, int64_t dim) {
  constexpr size_t kSmall = 8;
  std::array<Operand, 1 + kSmall> small;
  std::vector<Operand> large;
  Operand* operands = small.data();
  if (tensors.size() > kSmall) {
    large.resize(1 + tensors.size());
    operands = large.data();
  }
  size_t count = 0;
  operands[count++] = write(out);
  bool plain = out.is_contiguous();
  for (const Tensor& t : tensors) {
    if (skipped(t)) continue;
    operands[count++] = read(t);
    plain &= t.is_contiguous() && t.dtype() == out.dtype();
  }
  if (plain) return enqueue_list(kCat, {operands, count}, CatAttributes{dim});
  autograd::NoGrad guard;
  int64_t start = 0;
  for (const Tensor& t : tensors) {
    if (skipped(t)) continue;
    const int64_t length = t.sizes()[size_t(dim)];
    if (length > 0) copy_(untracked(narrow(out, dim, start, length)), t);
    start += length;
  }
}

}  // namespace

Tensor cat(const Tensors& tensors, int64_t dim) {
  HOTARU_CHECK_AS(ValueError, !tensors.empty(),
                  "torch.cat(): expected a non-empty list of Tensors");
  const Tensor* model = &tensors[0];
  for (size_t i = 0; i < tensors.size(); ++i) {
    HOTARU_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ",
                 i, ") cannot be concatenated");
    if (tensors[i].device() != tensors[0].device())
      refuse_devices(tensors[0].device(), tensors[i].device());
    if (skipped(*model)) model = &tensors[i];
  }
  // Where all are empty vectors, PyTorch asks for no dimension.
  dim = skipped(*model) ? 0 : wrap_dim(dim, model->dim());
  const Dims sizes = cat_sizes(tensors, *model, dim);
  const MemoryFormat format = common_format(tensors);
  const DType dtype = common_dtype(tensors);
  const Device device = tensors[0].device();
  const Tensor out = format == MemoryFormat::kContiguous
                         ? allocate_result(sizes, dtype, device)
                         : empty_strided(sizes, format_strides(sizes, format),
                                         {dtype, device});
  if (out.numel() > 0) join(out, tensors, dim);
  if (autograd::needs_grad(tensors)) grad::cat(out, tensors, dim);
  return out;
}

namespace {

bool channels_last(const Tensors& tensors) {
  for (const Tensor& t : tensors)
    if (t.is_contiguous() ||
        suggested_format(t.sizes(), t.strides()) == MemoryFormat::kContiguous)
      return false;
  return true;
}

}  // namespace

Tensor stack(const Tensors& tensors, int64_t dim) {
  HOTARU_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  dim = wrap_dim(dim, tensors[0].dim() + 1);
  for (size_t i = 1; i < tensors.size(); ++i)
    HOTARU_CHECK(same(tensors[i].sizes(), tensors[0].sizes()),
                 "stack expects each tensor to be equal size, but got ",
                 shape_text(tensors[0].sizes()), " at entry 0 and ",
                 shape_text(tensors[i].sizes()), " at entry ", i);
  Tensor out;
  {
    autograd::NoGrad guard;
    if (dim < 2 && channels_last(tensors)) {
      // In front of the dimension along which their elements are joined, as in
      // PyTorch: the others keep their order in memory.
      Dims shape(tensors[0].sizes());
      shape.insert(size_t(dim), int64_t(tensors.size()));
      out = view(cat(tensors, dim), shape);
    } else {
      Tensors rows;
      rows.reserve(tensors.size());
      for (const Tensor& t : tensors) rows.push_back(unsqueeze(t, dim));
      out = cat(rows, dim);
    }
  }
  if (autograd::needs_grad(tensors)) grad::stack(out, tensors, dim);
  return out;
}

void stack_into(const Tensor& out, const Tensors& tensors) {
  HOTARU_CHECK(out.dim() > 0 && out.size(0) == int64_t(tensors.size()),
               "stack_into: ", tensors.size(),
               " tensors for a result of shape ", shape_text(out.sizes()));
  autograd::NoGrad guard;
  Tensors rows;
  rows.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    HOTARU_CHECK(same(t.sizes(), out.sizes().subspan(1)),
                 "stack expects each tensor to be equal size, but got ",
                 shape_text(out.sizes().subspan(1)), " at entry 0 and ",
                 shape_text(t.sizes()), " at entry ", rows.size());
    rows.push_back(unsqueeze(t, 0));
  }
  if (out.numel() > 0) join(out, rows, 0);
}

Tensor repeat(const Tensor& self, IntSpan repeats) {
  HOTARU_CHECK(int64_t(repeats.size()) >= self.dim(),
               "Number of dimensions of repeat dims can not be smaller than "
               "number of dimensions of tensor");
  // As [times, size] pairs the result is a broadcast of [1, size].
  const size_t lead = repeats.size() - self.sizes().size();
  Dims target, source, pairs;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const int64_t size = i < lead ? 1 : self.sizes()[i - lead];
    target.push_back(0);
    HOTARU_CHECK(!__builtin_mul_overflow(repeats[i], size, &target[i]),
                 "repeat: ", shape_text(self.sizes()), " repeated ",
                 shape_text(repeats), " times is too large");
    for (const int64_t n : {int64_t{1}, size}) source.push_back(n);
    for (const int64_t n : {repeats[i], size}) pairs.push_back(n);
  }
  const Tensor out = empty(target, TensorOptions(self));
  if (out.numel() > 0) {
    autograd::NoGrad guard;
    copy_(untracked(view(out, pairs)), reshape(self, source));
  }
  if (autograd::needs_grad(self)) grad::repeat(out, self, pairs);
  return out;
}

Tensor tile(const Tensor& self, IntSpan dims) {
  Dims repeats(dims);
  while (int64_t(repeats.size()) < self.dim()) repeats.insert(0, 1);
  return repeat(self, repeats);
}

Tensor flip(const Tensor& self, IntSpan dims) {
  FlipAttributes attributes;
  HOTARU_CHECK(self.dim() <= 64, "flip supports at most 64 dimensions, got ",
               self.dim());
  // wrap_dims would take an empty list for all of them.
  if (!dims.empty())
    for (int64_t d : wrap_dims(dims, self.dim()))
      attributes.dims |= uint64_t{1} << d;
  const Tensor out = empty_like(self);
  if (self.dim() == 0 || self.numel() == 0) {
    autograd::NoGrad guard;
    copy_(untracked(out), self);
  } else {
    enqueue(kFlip, {write(out), read(self)}, attributes);
  }
  if (autograd::needs_grad(self)) grad::flip(out, self, dims);
  return out;
}

Tensor roll(const Tensor& self, IntSpan shifts, IntSpan dims) {
  HOTARU_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    Tensor out;
    {
      autograd::NoGrad guard;
      const Tensor flat = reshape(self, Dims{-1});
      out = without_base(view(roll(flat, shifts, Dims{0}), self.sizes()));
    }
    if (autograd::needs_grad(self)) grad::roll(out, self, shifts, dims);
    return out;
  }
  HOTARU_CHECK(shifts.size() == dims.size(),
               "shifts and dimensions must align. shifts: ", shifts.size(),
               ", dims:", dims.size());
  Tensor out = self;
  {
    autograd::NoGrad guard;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t dim = wrap_dim(dims[i], self.dim(), false);
      const int64_t size = self.size(dim);
      const int64_t shift = size == 0 ? 0 : ((shifts[i] % size) + size) % size;
      if (shift == 0) continue;
      out = cat({narrow(out, dim, size - shift, shift),
                 narrow(out, dim, 0, size - shift)},
                dim);
    }
    if (out.is_same(self)) out = clone(self);
  }
  if (autograd::needs_grad(self)) grad::roll(out, self, shifts, dims);
  return out;
}

Tensor rot90(const Tensor& self, int64_t k, IntSpan dims) {
  HOTARU_CHECK(
      dims.size() == 2,
      "expected total rotation dims == 2, but got dims = ", dims.size());
  HOTARU_CHECK(self.dim() >= 2,
               "expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t a = dims[0], b = dims[1], n = self.dim();
  const bool inside = std::max(a, b) < n && std::min(a, b) >= -n;
  HOTARU_CHECK(a != b && !(inside && std::abs(a - b) == n),
               "expected rotation dims to be different, but got dim0 = ",
               dims[0], " and dim1 = ", dims[1]);
  Tensor out;
  {
    autograd::NoGrad guard;
    switch (((k % 4) + 4) % 4) {
      case 0:
        out = clone(self);
        break;
      case 1:
        out = transpose(flip(self, Dims{dims[1]}), dims[0], dims[1]);
        break;
      case 2:
        out = flip(self, dims);
        break;
      default:
        out = transpose(flip(self, Dims{dims[0]}), dims[0], dims[1]);
    }
    without_base(out);
  }
  if (autograd::needs_grad(self)) grad::rot90(out, self, k, dims);
  return out;
}

Tensor block_diag(const Tensors& tensors) {
  int64_t rows = 0, columns = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    HOTARU_CHECK(t.dim() <= 2,
                 "torch.block_diag: Input tensors must have 2 or fewer "
                 "dimensions. Input ",
                 i, " has ", t.dim(), " dimensions");
    rows += t.dim() == 2 ? t.size(0) : 1;
    columns += t.dim() == 0 ? 1 : t.size(-1);
  }
  if (tensors.empty()) return empty(Dims{1, 0});
  const Tensor out =
      zeros(Dims{rows, columns}, {common_dtype(tensors), tensors[0].device()});
  {
    autograd::NoGrad guard;
    int64_t row = 0, column = 0;
    for (const Tensor& t : tensors) {
      const int64_t r = t.dim() == 2 ? t.size(0) : 1;
      const int64_t c = t.dim() == 0 ? 1 : t.size(-1);
      copy_(untracked(narrow(narrow(out, 0, row, r), 1, column, c)), t);
      row += r;
      column += c;
    }
  }
  if (autograd::needs_grad(tensors)) grad::block_diag(out, tensors);
  return out;
}

}  // namespace hotaru
