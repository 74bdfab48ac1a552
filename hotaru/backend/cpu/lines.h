// Walks over strided tensors: the loops around kernels that work on a line
// along one dimension (sort, cumsum, gather) or on single elements.
#pragma once

#include <algorithm>
#include <array>

#include "hotaru/backend/cpu/grain.h"
#include "hotaru/core/tensor.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::cpu {

/// The positions of a shape in row-major order, with the offset in elements of
/// each of N operands at the current one.
template <size_t N>
class Walk {
 public:
  Walk(IntSpan sizes, const std::array<IntSpan, N>& strides, int64_t start = 0)
      : sizes_(sizes), strides_(strides), index_(sizes.size(), 0) {
    for (size_t d = sizes.size(); start > 0 && d-- > 0;) {
      index_[d] = start % sizes[d];
      start /= sizes[d];
      for (size_t k = 0; k < N; ++k) at[k] += index_[d] * strides[k][d];
    }
  }

  /// Moves on; after the last position, back to the first.
  void next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      if (++index_[d] < sizes_[d]) {
        for (size_t k = 0; k < N; ++k) at[k] += strides_[k][d];
        return;
      }
      index_[d] = 0;
      for (size_t k = 0; k < N; ++k) at[k] -= strides_[k][d] * (sizes_[d] - 1);
    }
  }

  std::array<int64_t, N> at{};

 private:
  IntSpan sizes_;
  std::array<IntSpan, N> strides_;
  Dims index_;
};

/// Length and stride of the lines along a dimension; a scalar is one line of
/// one element.
inline int64_t line_size(const Tensor& t, int64_t dim) {
  return t.dim() ? t.sizes()[size_t(dim)] : 1;
}
inline int64_t line_stride(const Tensor& t, int64_t dim) {
  return t.dim() ? t.strides()[size_t(dim)] : 1;
}

inline Dims without(IntSpan values, int64_t dim) {
  Dims out(values);
  if (!out.empty()) out.erase(size_t(dim));
  return out;
}

/// f(offsets, state) for each line along `dim`, in parallel: the positions are
/// those of the first tensor's other dimensions, offsets[k] is where the k-th
/// tensor's line starts. `work` is about the elements one line touches; every
/// thread's share begins with a state from make_state().
template <class S, class F, class... T>
void for_lines_with(int64_t dim, int64_t work, const S& make_state, const F& f,
                    const Tensor& first, const T&... more) {
  constexpr size_t kCount = 1 + sizeof...(T);
  if (first.numel() == 0) return;  // there may be 2^62 lines of nothing
  const Dims sizes = without(first.sizes(), dim);
  const std::array<Dims, kCount> strides{without(first.strides(), dim),
                                         without(more.strides(), dim)...};
  std::array<IntSpan, kCount> spans;
  for (size_t k = 0; k < kCount; ++k) spans[k] = strides[k];
  parallel_for(0, numel_of(sizes), row_grain(work),
               [&](int64_t begin, int64_t end) {
                 auto state = make_state();
                 Walk<kCount> walk(sizes, spans, begin);
                 for (int64_t i = begin; i < end; ++i, walk.next())
                   f(walk.at, state);
               });
}

/// The same without a state.
template <class F, class... T>
void for_lines(int64_t dim, int64_t work, const F& f, const Tensor& first,
               const T&... more) {
  for_lines_with(
      dim, work, [] { return 0; }, [&](const auto& at, int) { f(at); }, first,
      more...);
}

inline constexpr int64_t kColumns = 64;

/// Tells whether lines along the dimension lie side by side in all tensors, so
/// that vectors can go across them.
template <class... Tensors>
bool side_by_side(int64_t dim, const Tensor& first, const Tensors&... others) {
  const int64_t last = first.dim() - 1;
  return first.dim() > 1 && dim != last && first.size(last) >= 4 &&
         first.stride(last) == 1 && ((others.stride(last) == 1) && ...);
}

/// columns(element of each tensor, columns from there on) for columns along
/// `dim`, kColumns or fewer at a time, in parallel; `work` is about the
/// elements that one of them touches.
template <class F, class... Tensors>
void for_columns(int64_t dim, int64_t work, const F& columns,
                 const Tensor& first, const Tensors&... others) {
  const auto last = size_t(first.dim() - 1);
  const auto outer = [&](const Tensor& t) {
    return without(t.strides().first(last), dim);
  };
  const int64_t width = first.sizes()[last];
  const Dims sizes = without(first.sizes().first(last), dim);
  constexpr size_t kTensors = 1 + sizeof...(others);
  const std::array<Dims, kTensors> strides{outer(first), outer(others)...};
  std::array<IntSpan, kTensors> steps;
  std::copy(strides.begin(), strides.end(), steps.begin());
  const int64_t stretches = (width + kColumns - 1) / kColumns;
  parallel_for(0, numel_of(sizes) * stretches, row_grain(work * kColumns),
               [&](int64_t begin, int64_t end) {
                 Walk<kTensors> walk(sizes, steps, begin / stretches);
                 for (int64_t i = begin; i < end; ++i) {
                   if (i > begin && i % stretches == 0) walk.next();
                   const int64_t from = i % stretches * kColumns;
                   auto at = walk.at;
                   for (int64_t& place : at) place += from;
                   columns(at, std::min(kColumns, width - from));
                 }
               });
}

}  // namespace hotaru::cpu
