// Whole slices at a one-dimensional index: index_select, index_add ...
#include "hotaru/backend/common/index/gather.h"
#include "hotaru/backend/cpu/index/narrow_sums.h"
#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/words.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/kernel.h"

namespace hotaru::cpu {
namespace {

/// The index as checked positions. All of it is read before anything is
/// written, so that an error leaves the target as it was.
Dims positions(const Tensor& index, int64_t size,
               const SliceAttributes& attributes) {
  Dims out(size_t(index.numel()), 0);
  const int64_t stride = line_stride(index, 0);
  const std::string_view op = attributes.op;
  visit_index(index, [&]<class I>() {
    const I* x = index.data<I>();
    for (size_t i = 0; i < out.size(); ++i) {
      int64_t at = x[int64_t(i) * stride];
      if (at < 0 && attributes.wrap) at += size;
      if (uint64_t(at) >= uint64_t(size)) [[unlikely]] {
        const int64_t given = x[int64_t(i) * stride];
        slice_out_of_bounds(op, given, attributes.dim, size);
      }
      out[i] = at;
    }
  });
  return out;
}

constexpr int64_t kAhead = 4;

/// Brings the beginning of a run near, 1 KB at most.
template <class A>
void fetch(const A* x, int64_t n) {
  constexpr int64_t kLine = 64 / int64_t{sizeof(A)};
  for (int64_t k = 0; k < std::min(n, 16 * kLine); k += kLine)
    __builtin_prefetch(x + k);
}

/// Shares that threads take: runs, so that equal rows are never written by two
/// and their order is that of i; or rows, where only the part is written.
enum class Share { kRuns, kRows };

/// f(whole + ..., part + ..., n, whole_step, part_step) for runs of elements
/// of which slice `rows[i]` of the whole belongs to slice i of the part.
template <class A, class B, Share share, class F>
void for_slices(const Tensor& whole, const Tensor& part, const Dims& rows,
                int64_t dim, const F& f) {
  A* x = whole.data<A>();
  B* y = part.data<B>();
  const auto count = int64_t(rows.size());
  const int64_t whole_stride = line_stride(whole, dim);
  const int64_t part_stride = line_stride(part, dim);
  Dims sizes = without(part.sizes(), dim);
  if (sizes.empty() || dim == part.dim() - 1) {
    for_lines(
        dim, count,
        [&](const auto& at) {
          const int64_t* row = rows.data();
          A* from = x + at[1];
          B* to = y + at[0];
          if (whole_stride == 1 && part_stride == 1)
            for (int64_t i = 0; i < count; ++i) f.one(from + row[i], to + i);
          else
            for (int64_t i = 0; i < count; ++i)
              f.one(from + row[i] * whole_stride, to + i * part_stride);
        },
        part, whole);
    return;
  }
  Dims whole_strides = without(whole.strides(), dim);
  Dims part_strides = without(part.strides(), dim);
  const size_t outer = sizes.size() - 1;
  // Trailing dimensions that lie densely in both make one run.
  size_t first = outer;
  int64_t n = sizes[outer];
  while (first > size_t(dim) && whole_strides[outer] == 1 &&
         part_strides[outer] == 1 && whole_strides[first - 1] == n &&
         part_strides[first - 1] == n)
    n *= sizes[--first];
  const IntSpan above = IntSpan(sizes).first(first);
  const std::array<IntSpan, 2> strides{IntSpan(part_strides).first(first),
                                       IntSpan(whole_strides).first(first)};
  if (n == 0 || numel_of(above) == 0) return;
  const bool by_rows = share == Share::kRows;
  const int64_t other = (by_rows ? n : count) * numel_of(above);
  parallel_for(
      0, by_rows ? count : n, row_grain(other), [&](int64_t from, int64_t to) {
        const int64_t begin = by_rows ? 0 : from, end = by_rows ? n : to;
        const int64_t first_row = by_rows ? from : 0;
        const int64_t last_row = by_rows ? to : count;
        for (int64_t i = first_row; i < last_row; ++i) {
          // Rows at random are not foreseen by the processor.
          if (by_rows && i + kAhead < last_row)
            fetch(x + rows[size_t(i + kAhead)] * whole_stride, n);
          Walk<2> walk(above, strides);
          for (int64_t k = numel_of(above); k > 0; --k, walk.next())
            f(x + walk.at[1] + rows[size_t(i)] * whole_stride +
                  begin * whole_strides[outer],
              y + walk.at[0] + i * part_stride + begin * part_strides[outer],
              end - begin, whole_strides[outer], part_strides[outer]);
        }
      });
}

/// Operands: result, input, index.
void index_select(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &index = call.tensor(2);
  const auto& attributes = call.attributes<SliceAttributes>();
  const int64_t dim = attributes.dim;
  const Dims rows = positions(index, line_size(in, dim), attributes);
  visit_word(in.dtype(), [&]<class Word>() {
    for_slices<const Word, Word, Share::kRows>(in, out, rows, dim, ReadRun());
  });
}

/// Operands: target, index, source.
void index_write(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &index = call.tensor(1),
               &source = call.tensor(2);
  const auto& attributes = call.attributes<SliceAttributes>();
  const int64_t dim = attributes.dim;
  const Dims rows = positions(index, line_size(out, dim), attributes);
  if (attributes.mode == WriteMode::kAssign)
    return visit_word(out.dtype(), [&]<class Word>() {
      for_slices<Word, const Word, Share::kRuns>(out, source, rows, dim,
                                                 CopyRun());
    });
  visit_dtype(AllTypes{}, out.dtype(), "index_add", [&]<class T>() {
    const auto visit = [&](const Tensor& target, const auto& f) {
      for_slices<Combined<T>, const T, Share::kRuns>(target, source, rows, dim,
                                                     EachRun{f});
    };
    combine_at<T>(out, source.numel(), visit, AddOne());
  });
}

HOTARU_KERNEL(kCPU, "index_select", index_select);
HOTARU_KERNEL(kCPU, "index_write", index_write);

}  // namespace
}  // namespace hotaru::cpu
