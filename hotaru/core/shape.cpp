#include "hotaru/core/shape.h"

#include <limits>

#include "hotaru/core/checks/check.h"

namespace hotaru {
namespace {

// Longer lists are an error: no list of sizes is that long on purpose.
constexpr size_t kMaxSize = size_t{1} << 30;

}  // namespace

void Dims::grow(size_t size) {
  HOTARU_CHECK(size <= kMaxSize, "a list of ", size,
               " integers is too long for sizes or indices");
  // Doubled, so that appending one by one stays linear.
  const size_t capacity = std::max<size_t>(size, 2 * size_t{capacity_});
  auto* grown = new int64_t[capacity];
  std::copy(begin(), end(), grown);
  if (heap()) delete[] heap_;
  heap_ = grown;
  capacity_ = uint32_t(capacity);
}

void Dims::insert(size_t position, int64_t value) {
  resize(size_ + 1);
  std::copy_backward(data() + position, end() - 1, end());
  data()[position] = value;
}

void Dims::erase(size_t position) {
  std::copy(data() + position + 1, end(), data() + position);
  --size_;
}

void Dims::take(Dims& other) noexcept {
  size_ = other.size_;
  capacity_ = other.capacity_;
  if (heap()) {
    heap_ = other.heap_;
    other.capacity_ = kInline;
    other.size_ = 0;
  } else {
    for (size_t i = 0; i < size_; ++i) inline_[i] = other.inline_[i];
  }
}

int64_t numel_of(IntSpan sizes) {
  int64_t n = 1;
  for (int64_t s : sizes)
    HOTARU_CHECK(s >= 0 && !__builtin_mul_overflow(n, s, &n),
                 "numel: integer multiplication overflow for shape ",
                 shape_text(sizes));
  return n;
}

namespace {

void check_sizes(IntSpan sizes) {
  for (const int64_t size : sizes)
    HOTARU_CHECK(size >= 0, "Trying to create tensor with negative dimension ",
                 size, ": ", shape_text(sizes));
}

/// Tells whether (offset + elements) * itemsize fits; if so, *bytes is that.
bool count_bytes(int64_t elements, int64_t offset, size_t itemsize,
                 int64_t* bytes) {
  return offset >= 0 && !__builtin_add_overflow(offset, elements, bytes) &&
         !__builtin_mul_overflow(*bytes, int64_t(itemsize), bytes);
}

}  // namespace

size_t storage_bytes(IntSpan sizes, size_t itemsize, int64_t offset) {
  int64_t elements = 1, bytes = 0;
  bool fits = true;
  for (const int64_t size : sizes)
    fits &= (size >= 0) & !__builtin_mul_overflow(elements, size, &elements);
  fits &= count_bytes(elements, offset, itemsize, &bytes);
  if (!fits) [[unlikely]] {
    check_sizes(sizes);
    fail("Storage size calculation overflowed with sizes=", shape_text(sizes));
  }
  return size_t(bytes);
}

size_t storage_bytes(IntSpan sizes, IntSpan strides, size_t itemsize,
                     int64_t offset) {
  check_sizes(sizes);
  int64_t last = 0, bytes = 0;
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  bool fits = true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Kernels count strides in bytes, also those that nobody walks.
    int64_t step = 0;
    fits &= strides[i] >= 0 &&
            !__builtin_mul_overflow(strides[i], int64_t(itemsize), &step);
    if (empty) continue;
    fits &= !__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) &&
            !__builtin_add_overflow(last, step, &last);
  }
  fits = fits && !__builtin_add_overflow(last, empty ? 0 : 1, &last) &&
         count_bytes(last, offset, itemsize, &bytes);
  HOTARU_CHECK(fits, "Storage size calculation overflowed with sizes=",
               shape_text(sizes), " and strides=", shape_text(strides));
  // Nothing of an empty tensor is ever read, wherever it begins.
  return empty ? 0 : size_t(bytes);
}

Dims contiguous_strides(IntSpan sizes) {
  Dims strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    HOTARU_CHECK(
        !__builtin_mul_overflow(strides[i], std::max<int64_t>(sizes[i], 1),
                                &strides[i - 1]),
        "Stride calculation overflowed for shape ", shape_text(sizes));
  return strides;
}

int64_t scaled_stride(int64_t stride, int64_t n) {
  int64_t scaled = 0;
  return __builtin_mul_overflow(stride, n, &scaled) ? stride : scaled;
}

int64_t offset_at(int64_t offset, int64_t index, int64_t stride) {
  int64_t step = 0, at = 0;
  const bool beyond = __builtin_mul_overflow(index, stride, &step) ||
                      __builtin_add_overflow(offset, step, &at);
  return beyond ? offset : at;
}

bool is_contiguous(IntSpan sizes, IntSpan strides) {
  // Unsigned: sizes next to an empty dimension may be of any product.
  uint64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && uint64_t(strides[i]) != expected) {
      // A later (outer) empty dimension still makes the tensor contiguous.
      return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    }
    expected *= uint64_t(sizes[i]);
  }
  return true;
}

bool is_dense(IntSpan sizes, IntSpan strides) {
  Dims order;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1) order.push_back(int64_t(i));
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return strides[size_t(a)] < strides[size_t(b)];
  });
  uint64_t expected = 1;
  for (const int64_t d : order) {
    if (uint64_t(strides[size_t(d)]) != expected) return false;
    expected *= uint64_t(sizes[size_t(d)]);
  }
  return true;
}

namespace {

/// Says if dimension a belongs further out than b: 1 yes, -1 no, 0 unknown.
int compare_dims(IntSpan shape, std::span<const Dims> operands, size_t a,
                 size_t b) {
  for (const Dims& strides : operands) {
    const int64_t x = strides[a], y = strides[b];
    if (x == 0 || y == 0) continue;
    if (x != y) return x < y ? -1 : 1;
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

}  // namespace

Dims dense_strides(IntSpan shape, std::span<const Dims> operands) {
  const size_t n = shape.size();
  // Innermost first. A sort by insertion, as "unknown" is no order.
  Dims order(n, 0);
  for (size_t i = 0; i < n; ++i) order[i] = int64_t(n - 1 - i);
  for (size_t i = 1; i < n; ++i) {
    for (size_t at = i, below = i; below-- > 0;) {
      const int found = compare_dims(shape, operands, size_t(order[below]),
                                     size_t(order[at]));
      if (found < 0) break;
      if (found > 0) std::swap(order[below], order[at]), at = below;
    }
  }
  Dims out(n, 0);
  int64_t stride = 1;
  bool fits = true;
  for (const int64_t d : order) {
    HOTARU_CHECK(fits, "Stride calculation overflowed for shape ",
                 shape_text(shape));
    out[size_t(d)] = stride;
    fits = !__builtin_mul_overflow(
        stride, std::max<int64_t>(shape[size_t(d)], 1), &stride);
  }
  return out;
}

int64_t storage_extent(IntSpan sizes, IntSpan strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    HOTARU_CHECK(sizes[i] > 0, "Trying to create tensor with negative ",
                 "dimension ", sizes[i], ": ", shape_text(sizes));
    int64_t step = 0;
    HOTARU_CHECK(strides[i] >= 0, "as_strided: Negative strides are not ",
                 "supported at the moment, got strides: ", shape_text(strides));
    const bool overflow =
        __builtin_mul_overflow(sizes[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(last, step, &last);
    HOTARU_CHECK(!overflow, "sizes ", shape_text(sizes), " with strides ",
                 shape_text(strides), " reach beyond 64-bit offsets");
  }
  HOTARU_CHECK(last < std::numeric_limits<int64_t>::max(), "sizes ",
               shape_text(sizes), " with strides ", shape_text(strides),
               " reach beyond 64-bit offsets");
  return last + 1;
}

Dims broadcast_shapes(IntSpan a, IntSpan b) {
  Dims out(a.size() < b.size() ? b : a);
  const size_t n = out.size();
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 1; i <= common; ++i) {
    const int64_t x = a[a.size() - i], y = b[b.size() - i];
    HOTARU_CHECK(x == y || x == 1 || y == 1, "The size of tensor a (", x,
                 ") must match the size of tensor b (", y,
                 ") at non-singleton dimension ", n - i);
    out[n - i] = x == 1 ? y : x;
  }
  return out;
}

Dims broadcast_strides(IntSpan sizes, IntSpan strides, IntSpan target) {
  Dims out(target.size(), 0);
  const size_t lead = target.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 || target[lead + i] == 1) out[lead + i] = strides[i];
  return out;
}

Dims infer_size(IntSpan shape, int64_t numel) {
  Dims out(shape);
  int64_t known = 1;
  int64_t inferred = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      HOTARU_CHECK(inferred < 0, "only one dimension can be inferred");
      inferred = int64_t(i);
    } else {
      HOTARU_CHECK(shape[i] >= 0, "invalid shape dimension ", shape[i],
                   " at index ", i, " of shape ", shape_text(shape));
      HOTARU_CHECK(!__builtin_mul_overflow(known, shape[i], &known), "shape '",
                   shape_text(shape), "' is too large");
    }
  }
  const bool fits =
      inferred >= 0 ? known > 0 && numel % known == 0 : known == numel;
  if (inferred >= 0 && known == 0 && numel == 0)
    fail("cannot reshape tensor of 0 elements into shape ", shape_text(shape),
         " because the unspecified dimension size -1 can be any value and is "
         "ambiguous");
  HOTARU_CHECK(fits, "shape '", shape_text(shape),
               "' is invalid for input of size ", numel);
  if (inferred >= 0) out[size_t(inferred)] = numel / known;
  return out;
}

bool view_strides(IntSpan sizes, IntSpan strides, IntSpan shape, Dims* out) {
  out->resize(shape.size());
  if (numel_of(sizes) == 0 || sizes.empty()) {
    *out = contiguous_strides(shape);
    return true;
  }
  // Walk both from the innermost dimension; a run of old dimensions that is
  // dense within itself may be cut into new dimensions at will.
  int64_t at = int64_t(shape.size()) - 1;
  int64_t chunk_stride = strides.back();
  int64_t chunk = 1, covered = 1;
  for (int64_t d = int64_t(sizes.size()) - 1; d >= 0; --d) {
    chunk *= sizes[d];
    const bool ends =
        d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != chunk * chunk_stride);
    if (!ends) continue;
    while (at >= 0 && (covered < chunk || shape[at] == 1)) {
      (*out)[at] = covered * chunk_stride;
      covered *= shape[at--];
    }
    if (covered != chunk) return false;
    if (d > 0) {
      chunk_stride = strides[d - 1];
      chunk = covered = 1;
    }
  }
  return at == -1;
}

int64_t wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar) {
  if (ndim == 0) {
    HOTARU_CHECK_AS(IndexError, wrap_scalar, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
    ndim = 1;
  }
  HOTARU_CHECK_AS(IndexError, dim >= -ndim && dim < ndim,
                  "Dimension out of range (expected to be in range of [", -ndim,
                  ", ", ndim - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + ndim : dim;
}

Dims wrap_dims(IntSpan dims, int64_t ndim) {
  Dims out;
  if (dims.empty())
    for (int64_t d = 0; d < ndim; ++d) out.push_back(d);
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim(dim, ndim);
    HOTARU_CHECK(std::find(out.begin(), out.end(), d) == out.end(), "dim ", d,
                 " appears multiple times in the list of dims");
    out.push_back(d);
  }
  // A scalar is asked by a dimension's name, but has none.
  return ndim > 0 ? out : Dims();
}

std::ostream& operator<<(std::ostream& out, ShapeText text) {
  out << '[';
  for (size_t i = 0; i < text.sizes.size(); ++i)
    out << (i ? ", " : "") << text.sizes[i];
  return out << ']';
}

}  // namespace hotaru
