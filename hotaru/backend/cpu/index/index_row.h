// Rows of single indices along a dimension, for "gather" and "scatter".
#pragma once

#include <algorithm>

#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cpu {

/// The dimension along which loops run fastest: the last one in which the
/// index has more than one element.
inline int64_t innermost(const Tensor& index) {
  for (int64_t d = index.dim(); d-- > 0;)
    if (index.sizes()[size_t(d)] > 1) return d;
  return std::max<int64_t>(0, index.dim() - 1);
}

/// A row of indices along the innermost dimension, and how far apart are the
/// elements that they name: `step` for each index, `slide` for each position
/// (0 along the indexed dimension itself).
template <class I>
struct Row {
  const I* index;
  int64_t n, stride, step, slide, dim, size;

  int64_t checked(int64_t at) const {
    if (uint64_t(at) >= uint64_t(size)) [[unlikely]]
      index_out_of_bounds(at, dim, size);
    return at;
  }
  /// f(j, offset of the element that the j-th index names). The strides that
  /// nearly all calls have are constants of their loops.
  template <class F>
  void visit(const F& f) const {
    if (stride == 0) {  // an index that was expanded names one slice
      const int64_t start = checked(*index) * step;
      for (int64_t j = 0; j < n; ++j) f(j, start + j * slide);
    } else if (stride == 1 && step == 1 && slide == 0) {
// Four loads in flight: the check of each index would else wait its turn.
#pragma GCC unroll 4
      for (int64_t j = 0; j < n; ++j) f(j, checked(index[j]));
    } else {
      for (int64_t j = 0; j < n; ++j)
        f(j, checked(index[j * stride]) * step + j * slide);
    }
  }
};

}  // namespace hotaru::cpu
