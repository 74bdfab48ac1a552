// Sizes and strides: a small vector that seldom allocates, and the arithmetic
// of shapes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <vector>

namespace hotaru {

/// A borrowed list of sizes, strides or dimensions.
using IntSpan = std::span<const int64_t>;

/// An owned list of integers; up to five live inside the object.
class Dims {
 public:
  static constexpr size_t kInline = 5;

  Dims() = default;
  Dims(std::initializer_list<int64_t> values)
      : Dims(IntSpan(values.begin(), values.size())) {}
  Dims(IntSpan values) { assign(values); }
  Dims(const std::vector<int64_t>& values) : Dims(IntSpan(values)) {}
  Dims(size_t count, int64_t value) {
    if (count > kInline) grow(count);
    size_ = uint32_t(count);
    for (int64_t& v : *this) v = value;
  }
  Dims(const Dims& other) { assign(other); }
  Dims(Dims&& other) noexcept { take(other); }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) {
      if (heap()) delete[] heap_;
      take(other);
    }
    return *this;
  }
  ~Dims() {
    if (heap()) delete[] heap_;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return heap() ? heap_ : inline_; }
  const int64_t* data() const { return heap() ? heap_ : inline_; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t& back() { return data()[size_ - 1]; }
  int64_t back() const { return data()[size_ - 1]; }
  operator IntSpan() const { return {data(), size_}; }

  void resize(size_t size) {
    if (size > capacity_) grow(size);
    for (size_t i = size_; i < size; ++i) data()[i] = 0;
    size_ = uint32_t(size);
  }
  void push_back(int64_t value) { insert(size_, value); }
  void insert(size_t position, int64_t value);
  void erase(size_t position);
  void assign(IntSpan values) {
    if (values.size() > capacity_) grow(values.size());
    size_ = uint32_t(values.size());
    // By hand: a call of memmove costs more than most shapes are long.
    int64_t* to = data();
    for (int64_t value : values) *to++ = value;
  }

 private:
  bool heap() const { return capacity_ > kInline; }
  /// Makes room for `size` values, keeping those there are.
  void grow(size_t size);
  void take(Dims& other) noexcept;

  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
  union {
    int64_t inline_[kInline];
    int64_t* heap_;
  };
};

inline bool operator==(const Dims& a, const Dims& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}
inline bool same(IntSpan a, IntSpan b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// Product of the sizes; throws when one is negative or it leaves int64.
int64_t numel_of(IntSpan sizes);
/// Bytes of a storage that holds `offset` elements and behind them a row-major
/// tensor of `sizes`. The one way from a geometry to bytes, as the next: both
/// throw PyTorch's error where a size is negative or the bytes leave int64.
size_t storage_bytes(IntSpan sizes, size_t itemsize, int64_t offset = 0);
/// The same for a strided tensor.
size_t storage_bytes(IntSpan sizes, IntSpan strides, size_t itemsize,
                     int64_t offset = 0);
/// Row-major strides; empty dimensions count as one, as in PyTorch. Throws
/// when one leaves int64.
Dims contiguous_strides(IntSpan sizes);
/// stride * n, or the stride where that leaves int64: so far apart lie only the
/// elements of dimensions of size one or of empty tensors, which nobody walks.
int64_t scaled_stride(int64_t stride, int64_t n);
/// offset + index * stride, or the offset where that leaves int64.
int64_t offset_at(int64_t offset, int64_t index, int64_t stride);
/// Tells whether the strides walk the elements densely in row-major order.
bool is_contiguous(IntSpan sizes, IntSpan strides);
/// True if the strides walk the elements without gaps or overlap, in any order.
bool is_dense(IntSpan sizes, IntSpan strides);
/// Strides of a new dense tensor whose dimensions are in the order of memory
/// that `operands` (strides within `shape`, 0 where broadcast) have; the first
/// operand that tells two dimensions apart decides. PyTorch's rule.
Dims dense_strides(IntSpan shape, std::span<const Dims> operands);
/// Elements that a strided view reaches: 1 + the offset of its last element;
/// 0 for an empty view. Throws on negative strides or overflow.
int64_t storage_extent(IntSpan sizes, IntSpan strides);
/// The shape both broadcast to, or PyTorch's error.
Dims broadcast_shapes(IntSpan a, IntSpan b);
/// Strides that make a tensor of `sizes` look like `target`.
Dims broadcast_strides(IntSpan sizes, IntSpan strides, IntSpan target);
/// Replaces a single -1 by what numel asks for; PyTorch's error otherwise.
Dims infer_size(IntSpan shape, int64_t numel);
/// Strides of the same elements under another shape without a copy; false
/// when the strides don't allow it.
bool view_strides(IntSpan sizes, IntSpan strides, IntSpan shape, Dims* out);

/// Maps a dimension in [-ndim, ndim) to [0, ndim); IndexError otherwise. A
/// scalar counts as one-dimensional when wrap_scalar.
int64_t wrap_dim(int64_t dim, int64_t ndim, bool wrap_scalar = true);
/// Wraps each and throws when one appears twice. Empty means every dimension.
Dims wrap_dims(IntSpan dims, int64_t ndim);

/// A list as PyTorch prints it in messages: [2, 3].
struct ShapeText {
  IntSpan sizes;
};
std::ostream& operator<<(std::ostream& out, ShapeText text);
inline ShapeText shape_text(IntSpan sizes) {
  return {sizes};
}

}  // namespace hotaru
