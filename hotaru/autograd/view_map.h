// Where a view lies within its base, whatever order their elements have.
#pragma once

#include <algorithm>

#include "hotaru/core/tensor.h"

namespace hotaru::autograd {

/// Strided elements of some memory; the offset counts elements of the dtype.
struct Layout {
  explicit Layout(const Tensor& t)
      : dtype(t.dtype()),
        sizes(t.sizes()),
        strides(t.strides()),
        offset(t.storage_offset()) {}

  int64_t first_byte() const { return offset * int64_t(itemsize(dtype)); }
  int64_t end_byte() const {
    return (offset + storage_extent(sizes, strides)) * int64_t(itemsize(dtype));
  }

  DType dtype;
  Dims sizes, strides;
  int64_t offset;
};

/// Two tensors of one storage in memory of their own that covers both. Their
/// dtypes are the same, or one is the parts of the other's complex elements.
struct ViewMap {
  ViewMap(const Tensor& base, const Tensor& view) : base(base), view(view) {
    const int64_t base_size = int64_t(itemsize(base.dtype()));
    const int64_t view_size = int64_t(itemsize(view.dtype()));
    const int64_t largest = std::max(base_size, view_size);
    const Layout &a = this->base, &b = this->view;
    const int64_t first =
        std::min(a.first_byte(), b.first_byte()) / largest * largest;
    const int64_t end = std::max(a.end_byte(), b.end_byte());
    nbytes = (end - first + largest - 1) / largest * largest;
    this->base.offset -= first / base_size;
    this->view.offset -= first / view_size;
  }

  /// Elements of a dtype that the memory has.
  int64_t extent(DType dtype) const {
    return nbytes / int64_t(itemsize(dtype));
  }

  Layout base, view;
  int64_t nbytes;
};

}  // namespace hotaru::autograd
