// Writes at single indices along a dimension.
#pragma once

#include "hotaru/backend/common/index/gather.h"
#include "hotaru/backend/cpu/independent.h"
#include "hotaru/backend/cpu/index/index_row.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {

/// The same of an index that was expanded, which moves whole rows: row i of the
/// source, x_step elements apart, to the row that index[i * i_step] names.
/// Threads share out targets, and each looks at all indices.
template <class W, class T, class I, class F>
void scatter_rows(const Row<I>& row, int64_t rows, const I* index,
                  int64_t i_step, W* out, const T* source, int64_t x_step,
                  const F& f) {
  constexpr int64_t kAhead = 8, kLine = 64 / int64_t{sizeof(T)};
  const int64_t each =
      detail::divide_up(rows * row.n, std::max<int64_t>(1, row.size));
  parallel_for(0, row.size, row_grain(each), [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = row.checked(index[i * i_step]);
      if (at < begin || at >= end) continue;
      const T* x = source + i * x_step;
      for (int64_t k = 0; i + kAhead < rows && k < row.n; k += kLine)
        __builtin_prefetch(x + kAhead * x_step + k);
      W* y = out + at * row.step;
      HOTARU_INDEPENDENT
      for (int64_t k = 0; k < row.n; ++k) f(y[k], x[k]);
    }
  });
}

/// f(an element of out, of type W; one of the source, of type T). Elements that
/// differ in another coordinate than that along `dim` have different targets:
/// these are shared out to threads.
template <class W, class T, class F>
void scatter_into(const Tensor& out, const KernelCall& call, const F& f) {
  const Tensor &index = call.tensor(1), &source = call.tensor(2);
  const int64_t dim = call.attributes<ScatterAttributes>().dim;
  const int64_t inner = innermost(index);
  const bool along = inner == dim;
  const auto beside = [&](IntSpan values) {
    const Dims rest = without(values, std::max(dim, inner));
    return along ? rest : without(rest, std::min(dim, inner));
  };
  const Dims sizes = beside(index.sizes());
  const std::array<Dims, 3> strides{
      beside(index.strides()), beside(out.strides()), beside(source.strides())};
  const std::array<IntSpan, 3> spans{strides[0], strides[1], strides[2]};
  // Row by row along `dim`, unless the rows themselves lie along it.
  const int64_t rows = along ? 1 : line_size(index, dim);
  const int64_t n = line_size(index, inner), columns = along ? 1 : n;
  const int64_t stride = line_stride(source, inner);
  visit_index(index, [&]<class I>() {
    const Row<I> row{nullptr,
                     n,
                     line_stride(index, inner),
                     line_stride(out, dim),
                     along ? 0 : line_stride(out, inner),
                     dim,
                     line_size(out, dim)};
    // Messages to nodes: their indices are of 64 bits, as a rule.
    if constexpr (sizeof(I) == 8)
      if (!along && numel_of(sizes) == 1 && row.stride == 0 && row.slide == 1 &&
          stride == 1)
        return scatter_rows(row, rows, index.data<I>(), line_stride(index, dim),
                            out.data<W>(), source.data<T>(),
                            line_stride(source, dim), f);
    const auto share = [&](int64_t p, int64_t end) {
      Row<I> part = row;
      Walk<3> walk(sizes, spans, p / columns);
      for (int64_t j = p % columns; p < end; j = 0, walk.next()) {
        part.n = along ? n : std::min(n - j, end - p);
        for (int64_t i = 0; i < rows; ++i) {
          part.index = index.data<I>() + walk.at[0] + j * row.stride +
                       i * line_stride(index, dim);
          W* y = out.data<W>() + walk.at[1] + j * row.slide;
          const T* x = source.data<T>() + walk.at[2] + j * stride +
                       i * line_stride(source, dim);
          part.visit([=](int64_t k, int64_t at) { f(y[at], x[k * stride]); });
        }
        p += along ? 1 : part.n;
      }
    };
    parallel_for(0, numel_of(sizes) * columns, row_grain(along ? n : rows),
                 share);
  });
}

/// The kernel "scatter" with WriteMode::kAdd or kMultiply.
void scatter_sums(const KernelCall& call);

}  // namespace hotaru::cpu
