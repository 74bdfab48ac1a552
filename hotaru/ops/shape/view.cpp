#include "hotaru/ops/shape/view.h"

#include <algorithm>
#include <numeric>

#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/tensor_split.h"
#include "hotaru/ops/shape/view_grad.h"

namespace hotaru {
namespace {

Tensor viewed(const Tensor& self, IntSpan sizes, IntSpan strides,
              int64_t offset) {
  return autograd::view_of(self, self.dtype(), sizes, strides, offset);
}

Tensor viewed(const Tensor& self, IntSpan sizes, IntSpan strides) {
  return viewed(self, sizes, strides, self.storage_offset());
}

Tensor view_as_shape(const Tensor& self, IntSpan size, const char* name) {
  const Dims shape = infer_size(size, self.numel());
  Dims strides;
  if (self.is_contiguous()) {
    strides = contiguous_strides(shape);
  } else {
    HOTARU_CHECK(
        view_strides(self.sizes(), self.strides(), shape, &strides),
        "view size is not compatible with input tensor's size and stride (at "
        "least one dimension spans across two contiguous subspaces). Use "
        ".reshape(...) instead.");
  }
  Tensor out = viewed(self, shape, strides);
  if (autograd::needs_grad(self)) view_grad(name, out, self);
  return out;
}

}  // namespace

Tensor view(const Tensor& self, IntSpan size) {
  return view_as_shape(self, size, "ViewBackward0");
}

Tensor reshape(const Tensor& self, IntSpan size) {
  const Dims shape = infer_size(size, self.numel());
  Dims strides;
  if (view_strides(self.sizes(), self.strides(), shape, &strides))
    return view_as_shape(self, shape, "ViewBackward0");
  return without_base(
      view_as_shape(contiguous(self), shape, "UnsafeViewBackward0"));
}

Tensor without_base(const Tensor& t) {
  autograd::leave_base(t);
  return t;
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t start = wrap_dim(start_dim, self.dim());
  const int64_t end = wrap_dim(end_dim, self.dim());
  HOTARU_CHECK(start <= end,
               "flatten() has invalid args: start_dim cannot come after "
               "end_dim");
  if (self.dim() == 0) return reshape(self, Dims{1});
  if (start == end) return self;
  Dims shape(self.sizes().first(size_t(start)));
  shape.push_back(
      numel_of(self.sizes().subspan(size_t(start), size_t(end - start + 1))));
  for (int64_t d = end + 1; d < self.dim(); ++d) shape.push_back(self.size(d));
  return reshape(self, shape);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntSpan sizes) {
  HOTARU_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  wrap_dim(dim, self.dim());
  HOTARU_CHECK(self.dim() > 0,
               "unflatten got an unexpected error:\nDimension specified as ",
               dim, " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t size = self.size(d);
  const int64_t known = std::accumulate(
      sizes.begin(), sizes.end(), int64_t{1}, [](int64_t a, int64_t b) {
        int64_t out = 0;
        return b == -1 ? a : __builtin_mul_overflow(a, b, &out) ? -1 : out;
      });
  const bool inferred =
      std::find(sizes.begin(), sizes.end(), -1) != sizes.end();
  HOTARU_CHECK(inferred || known == size, "unflatten: Provided sizes ",
               shape_text(sizes), " don't multiply up to the size of dim ", d,
               " (", size, ") in the input tensor");
  const Dims inner = infer_size(sizes, size);
  Dims shape(self.sizes());
  shape.erase(size_t(d));
  for (size_t i = 0; i < inner.size(); ++i)
    shape.insert(size_t(d) + i, inner[i]);
  return view(self, shape);
}

Tensor as_strided(const Tensor& self, IntSpan size, IntSpan stride,
                  Optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  HOTARU_CHECK(size.size() == stride.size(), "mismatch in length of strides ",
               "and shape");
  make_tensor(self.storage(), self.dtype(), size, stride, offset);
  Tensor out = viewed(self, size, stride, offset);
  if (autograd::needs_grad(self)) as_strided_grad(out, self);
  return out;
}

Tensor permute(const Tensor& self, IntSpan dims) {
  HOTARU_CHECK(int64_t(dims.size()) == self.dim(),
               "permute(sparse_coo): number of dimensions in the tensor input "
               "does not match the length of the desired ordering of "
               "dimensions i.e. input.dim() = ",
               self.dim(), " is not equal to len(dims) = ", dims.size());
  Dims order;
  for (const int64_t dim : dims) {
    order.push_back(wrap_dim(dim, self.dim()));
    HOTARU_CHECK(std::count(order.begin(), order.end(), order.back()) == 1,
                 "permute(): duplicate dims are not allowed.");
  }
  Dims sizes(order.size(), 0), strides(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    sizes[i] = self.sizes()[size_t(order[i])];
    strides[i] = self.strides()[size_t(order[i])];
  }
  Tensor out = viewed(self, sizes, strides);
  if (autograd::needs_grad(self)) permute_grad(out, self, order);
  return out;
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, self.dim());
  const int64_t b = wrap_dim(dim1, self.dim());
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0) {
    std::swap(sizes[size_t(a)], sizes[size_t(b)]);
    std::swap(strides[size_t(a)], strides[size_t(b)]);
  }
  Tensor out = viewed(self, sizes, strides);
  if (autograd::needs_grad(self)) transpose_grad(out, self, a, b);
  return out;
}

Tensor t(const Tensor& self) {
  HOTARU_CHECK(self.dim() <= 2,
               "t() expects a tensor with <= 2 dimensions, but self is ",
               self.dim(), "D");
  Dims sizes(self.sizes()), strides(self.strides());
  std::reverse(sizes.begin(), sizes.end());
  std::reverse(strides.begin(), strides.end());
  Tensor out = viewed(self, sizes, strides);
  if (autograd::needs_grad(self)) t_grad(out, self);
  return out;
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  HOTARU_CHECK_AS(IndexError, self.dim() > 0,
                  "select() cannot be applied to a 0-dim tensor.");
  const size_t d = size_t(wrap_dim(dim, self.dim()));
  const int64_t size = self.sizes()[d];
  HOTARU_CHECK_AS(IndexError, index >= -size && index < size,
                  "select(): index ", index,
                  " out of range for tensor of size ", shape_text(self.sizes()),
                  " at dimension ", d);
  if (index < 0) index += size;
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t offset = offset_at(self.storage_offset(), index, strides[d]);
  sizes.erase(d);
  strides.erase(d);
  Tensor out = viewed(self, sizes, strides, offset);
  if (autograd::needs_grad(self)) select_grad(out, self, int64_t(d), index);
  return out;
}

Tensor slice(const Tensor& self, int64_t dim, Optional<int64_t> start,
             Optional<int64_t> end, int64_t step) {
  HOTARU_CHECK_AS(IndexError, self.dim() > 0,
                  "slice() cannot be applied to a 0-dim tensor.");
  HOTARU_CHECK_AS(ValueError, step > 0, "slice step must be positive");
  const size_t d = size_t(wrap_dim(dim, self.dim()));
  const int64_t size = self.sizes()[d];
  const auto bound = [size](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const int64_t first = bound(start.value_or(0));
  const int64_t last = std::max(first, bound(end.value_or(size)));
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t offset = offset_at(self.storage_offset(), first, strides[d]);
  sizes[d] = (last - first) / step + ((last - first) % step != 0);
  strides[d] = scaled_stride(strides[d], step);
  Tensor out = viewed(self, sizes, strides, offset);
  if (autograd::needs_grad(self))
    slice_grad(out, self, int64_t(d), first, last, step);
  return out;
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  HOTARU_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  HOTARU_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = self.size(dim);
  HOTARU_CHECK_AS(IndexError, start >= -size && start <= size,
                  "start out of range (expected to be in range of [", -size,
                  ", ", size, "], but got ", start, ")");
  if (start < 0) start += size;
  HOTARU_CHECK(length <= size - start, "start (", start, ") + length (", length,
               ") exceeds dimension size (", size, ").");
  return slice(self, dim, start, start + length, 1);
}

Tensor squeeze(const Tensor& self) {
  Dims sizes, strides;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (self.sizes()[d] == 1) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  Tensor out = viewed(self, sizes, strides);
  if (autograd::needs_grad(self)) view_grad("SqueezeBackward0", out, self);
  return out;
}

Tensor squeeze(const Tensor& self, int64_t dim) {
  const size_t d = size_t(wrap_dim(dim, self.dim()));
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0 && sizes[d] == 1) {
    sizes.erase(d);
    strides.erase(d);
  }
  Tensor out = viewed(self, sizes, strides);
  if (autograd::needs_grad(self)) view_grad("SqueezeBackward1", out, self);
  return out;
}

Tensor squeeze(const Tensor& self, IntSpan dims) {
  Dims order = dims.empty() ? Dims() : wrap_dims(dims, self.dim());
  std::sort(order.begin(), order.end());
  Tensor out = self;
  for (size_t i = order.size(); i-- > 0;) out = squeeze(out, order[i]);
  return out;
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const size_t d = size_t(wrap_dim(dim, self.dim() + 1));
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t stride =
      d < sizes.size() ? scaled_stride(strides[d], sizes[d]) : 1;
  sizes.insert(d, 1);
  strides.insert(d, stride);
  Tensor out = viewed(self, sizes, strides);
  if (autograd::needs_grad(self)) view_grad("UnsqueezeBackward0", out, self);
  return out;
}

Tensor expand(const Tensor& self, IntSpan size) {
  const size_t n = size.size(), own = self.sizes().size();
  HOTARU_CHECK(n >= own, "expand(torch.", scalar_type_name(self.dtype()),
               "Tensor{", shape_text(self.sizes()),
               "}, size=", shape_text(size),
               "): the number of sizes provided (", n,
               ") must be greater or equal to the number of dimensions in the "
               "tensor (",
               own, ")");
  Dims sizes(size), strides(n, 0);
  for (size_t i = 0; i < n; ++i) {
    const bool fresh = i < n - own;
    HOTARU_CHECK(!fresh || size[i] >= 0, "The expanded size of the tensor (",
                 size[i],
                 ") isn't allowed in a leading, non-existing dimension ", i);
    if (fresh) continue;
    const int64_t had = self.sizes()[i - (n - own)];
    if (size[i] == -1) sizes[i] = had;
    HOTARU_CHECK(had == 1 || had == sizes[i],
                 "The expanded size of the tensor (", sizes[i],
                 ") must match the existing size (", had,
                 ") at non-singleton dimension ", i,
                 ".  Target sizes: ", shape_text(size),
                 ".  Tensor sizes: ", shape_text(self.sizes()));
    if (had == sizes[i]) strides[i] = self.strides()[i - (n - own)];
  }
  // New dimensions of one element have strides as if they had been there.
  for (size_t i = own > 0 ? n - own : 0; i-- > 0;)
    if (sizes[i] == 1) strides[i] = sizes[i + 1] * strides[i + 1];
  Tensor out = viewed(self, sizes, strides);
  if (autograd::needs_grad(self)) expand_grad(out, self);
  return out;
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size,
              int64_t step) {
  const size_t d = size_t(wrap_dim(dimension, self.dim()));
  const int64_t had = self.dim() ? self.sizes()[d] : 1;
  HOTARU_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  HOTARU_CHECK(size <= had, "maximum size for tensor at dimension ", d, " is ",
               had, " but size is ", size);
  HOTARU_CHECK(step > 0, "step is ", step, " but must be > 0");
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.push_back(size);
  strides.push_back(self.dim() ? strides[d] : 1);
  if (self.dim() > 0) {
    sizes[d] = (had - size) / step + 1;
    strides[d] = scaled_stride(strides[d], step);
  }
  Tensor out = viewed(self, sizes, strides);
  if (autograd::needs_grad(self)) unfold_grad(out, self, int64_t(d), step);
  return out;
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1,
                int64_t dim2) {
  const size_t a = size_t(wrap_dim(dim1, self.dim()));
  const size_t b = size_t(wrap_dim(dim2, self.dim()));
  HOTARU_CHECK(a != b, "diagonal dimensions cannot be identical ", dim1, ", ",
               dim2);
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t length = offset >= 0 ? std::min(sizes[a], sizes[b] - offset)
                                     : std::min(sizes[a] + offset, sizes[b]);
  int64_t start = self.storage_offset();
  if (length > 0)
    start = offset >= 0 ? offset_at(start, offset, strides[b])
                        : offset_at(start, -offset, strides[a]);
  const int64_t stride = offset_at(strides[a], 1, strides[b]);
  for (const size_t d : {std::max(a, b), std::min(a, b)}) {
    sizes.erase(d);
    strides.erase(d);
  }
  sizes.push_back(std::max<int64_t>(length, 0));
  strides.push_back(stride);
  Tensor out = viewed(self, sizes, strides, start);
  if (autograd::needs_grad(self))
    diagonal_grad(out, self, offset, int64_t(a), int64_t(b));
  return out;
}

namespace {

/// Counted from the front, for movedim, which calls them `what`.
Dims distinct_dims(IntSpan dims, int64_t ndim, const char* what) {
  Dims out;
  for (const int64_t dim : dims) out.push_back(wrap_dim(dim, ndim));
  for (size_t i = 1; i < out.size(); ++i)
    HOTARU_CHECK(
        std::find(out.begin(), out.begin() + i, out[i]) == out.begin() + i,
        "movedim: repeated dim in `", what, "` (", shape_text(dims), ")");
  return out;
}

}  // namespace

Tensor movedim(const Tensor& self, IntSpan source, IntSpan destination) {
  HOTARU_CHECK(source.size() == destination.size(),
               "movedim: Invalid source or destination dims: source (",
               shape_text(source),
               " dims) should contain the same number of "
               "dims as destination (",
               shape_text(destination), " dims)");
  const Dims from = distinct_dims(source, self.dim(), "source");
  const Dims into = distinct_dims(destination, self.dim(), "destination");
  if (self.dim() == 0) return permute(self, {});
  Dims order(size_t(self.dim()), -1);
  for (size_t i = 0; i < into.size(); ++i) order[size_t(into[i])] = from[i];
  int64_t next = 0;
  for (int64_t& slot : order) {
    if (slot >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    slot = next++;
  }
  return permute(self, order);
}

namespace {

/// Pieces along a dimension, side by side.
Tensors pieces(const Tensor& self, IntSpan sizes, int64_t dim,
               const char* name) {
  const size_t d = size_t(wrap_dim(dim, self.dim()));
  Tensors out;
  Dims shape(self.sizes());
  int64_t offset = self.storage_offset();
  for (const int64_t size : sizes) {
    shape[d] = size;
    out.push_back(viewed(self, shape, self.strides(), offset));
    offset = offset_at(offset, size, self.strides()[d]);
  }
  if (!out.empty() && autograd::needs_grad(self))
    pieces_grad(name, out, self, int64_t(d));
  return out;
}

}  // namespace

Tensors split_with_sizes(const Tensor& self, IntSpan sizes, int64_t dim) {
  HOTARU_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  int64_t total = 0;
  bool fits = true;
  for (const int64_t n : sizes)
    fits &= n >= 0 && !__builtin_add_overflow(total, n, &total);
  HOTARU_CHECK(fits && total == self.size(dim),
               "split_with_sizes expects split_sizes to sum exactly to ",
               self.size(dim), " (input tensor's size at dimension ", dim,
               "), but got split_sizes=", shape_text(sizes));
  return pieces(self, sizes, dim, "SplitWithSizesBackward0");
}

Tensors split(const Tensor& self, int64_t split_size, int64_t dim) {
  HOTARU_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  HOTARU_CHECK(split_size >= 0,
               "split expects split_size be non-negative, but got split_size=",
               split_size);
  const int64_t size = self.size(dim);
  HOTARU_CHECK(split_size > 0 || size == 0,
               "split_size can only be 0 if dimension size is 0, but got "
               "dimension size of ",
               size);
  if (split_size > 0) check_parts("split", size / split_size);
  Dims sizes;
  for (int64_t left = size; left > 0 || sizes.empty(); left -= split_size) {
    sizes.push_back(std::min(left, split_size));
    if (left <= split_size) break;
  }
  return pieces(self, sizes, dim, "SplitBackward0");
}

Tensors chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  HOTARU_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  HOTARU_CHECK(chunks > 0,
               "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.size(dim);
  check_parts("chunk", size == 0 ? chunks : std::min(chunks, size));
  if (size == 0) return split_with_sizes(self, Dims(size_t(chunks), 0), dim);
  const int64_t each = size / chunks + (size % chunks != 0);
  return split(self, each, dim);
}

Tensors unbind(const Tensor& self, int64_t dim) {
  HOTARU_CHECK_AS(IndexError, self.dim() > 0, "Dimension specified as ", dim,
                  " but tensor has no dimensions");
  const size_t d = size_t(wrap_dim(dim, self.dim()));
  check_parts("unbind", self.sizes()[d]);
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.erase(d);
  strides.erase(d);
  Tensors out;
  for (int64_t i = 0; i < self.sizes()[d]; ++i)
    out.push_back(
        viewed(self, sizes, strides,
               offset_at(self.storage_offset(), i, self.strides()[d])));
  if (!out.empty() && autograd::needs_grad(self))
    unbind_grad(out, self, int64_t(d));
  return out;
}

}  // namespace hotaru
