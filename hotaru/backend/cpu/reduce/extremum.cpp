// Largest and smallest elements with their positions.

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/number.h"
#include "hotaru/backend/cpu/reduce/extreme_columns.h"
#include "hotaru/backend/cpu/reduce/extreme_lines.h"
#include "hotaru/backend/cpu/reduce/reduce_loop.h"

namespace hotaru::cpu {
namespace {

using formulas::better;

template <class T, bool kLargest>
using Extremum =
    std::conditional_t<kLargest, formulas::Largest<T>, formulas::Smallest<T>>;

/// Position of the first extreme element of a line; of the first NaN if any.
template <bool kLargest, class T>
int64_t position(const T* x, int64_t n, int64_t stride) {
  if constexpr (kIsFloating<T>) {
    // Finding the value with vectors and then its place reads the line twice,
    // which is still several times faster than one loop with branches.
    if (stride == 1 && n >= reduce::kLanes) {
      const T best = reduce::line<Extremum<T, kLargest>>(x, n, 1);
      int64_t i = 0;
      if (is_nan(best))
        while (!is_nan(x[i])) ++i;
      else
        while (x[i] != best) ++i;
      return i;
    }
  }
  int64_t best = 0;
  for (int64_t i = 1; i < n && !is_nan(x[best * stride]); ++i) {
    const T candidate = x[i * stride];
    if (better<kLargest>(candidate, x[best * stride]) || is_nan(candidate))
      best = i;
  }
  return best;
}

/// Lines of which neighbours lie side by side, by whole rows: store(k, row,
/// value) of each output, where k is its offset. False where they do not.
template <bool kLargest, class T, class F>
bool by_columns(const Tensor& out, const Tensor& in, const F& store) {
  if constexpr (std::is_same_v<T, float>) {
    using Columns = ExtremeColumns;
    const ReduceShape shape(out, in);
    const auto &kept = shape.kept, &reduced = shape.reduced;
    const int64_t n = reduced.inner_size(), width = kept.inner_size();
    if (reduced.sizes.size() != 1 || kept.inner_stride() != 1 ||
        kept.sizes.empty() || width < 8 || n < 2 || n > (int64_t{1} << 31) - 1)
      return false;
    const T* x = in.data<T>();
    const size_t rest = kept.sizes.size() - 1;
    const IntSpan outer(kept.sizes.data(), rest);
    const int64_t tiles = (width + Columns::kMost - 1) / Columns::kMost;
    parallel_for(0, numel_of(outer) * tiles,
                 row_grain(n * std::min(width, Columns::kMost)),
                 [&](int64_t begin, int64_t end) {
                   Columns columns;
                   for (int64_t t = begin; t < end; ++t) {
                     const Walk<2> at(outer,
                                      {IntSpan(kept.in.data(), rest),
                                       IntSpan(kept.out.data(), rest)},
                                      t / tiles);
                     const int64_t tile = t % tiles;
                     const int64_t first = width * tile / tiles;
                     const int64_t count = width * (tile + 1) / tiles - first;
                     columns.find(kLargest, x + at.at[0] + first, n,
                                  reduced.inner_stride(), count);
                     for (int64_t j = 0; j < count; ++j)
                       store(at.at[1] + (first + j) * kept.out.back(),
                             columns.row[j], columns.best[j]);
                   }
                 });
    return true;
  }
  return false;
}

template <bool kLargest>
constexpr KernelTypes<RealAndBoolTypes> kBothTypes{2, kLargest ? "max" : "min"};

/// Operands: values, indices, input. The results have size 1 in the dimension.
template <bool kLargest>
void with_index(const KernelCall& call) {
  const Tensor& in = call.tensor(2);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(in, dim), stride = line_stride(in, dim);
  const Tensor &values = call.tensor(0), &indices = call.tensor(1);
  bool done = false;
  if (stride != 1 && values.strides() == indices.strides()) {
    kBothTypes<kLargest>.visit(call, [&]<class T>() {
      done = by_columns<kLargest, T>(values, in,
                                     [&](int64_t k, int64_t row, T value) {
                                       values.data<T>()[k] = value;
                                       indices.data<int64_t>()[k] = row;
                                     });
    });
  }
  if (done) return;
  for_extreme_lines(call, kBothTypes<kLargest>,
                    [&](const auto* line, auto* value, int64_t* index) {
                      *index = position<kLargest>(line, n, stride);
                      *value = clean(line[*index * stride]);
                    });
}

template <bool kLargest>
constexpr KernelTypes<RealAndBoolTypes> kIndexTypes{
    1, kLargest ? "argmax_cpu" : "argmin_cpu"};

/// Operands: indices, input.
template <bool kLargest>
void index_only(const KernelCall& call) {
  const Tensor &indices = call.tensor(0), &in = call.tensor(1);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  const int64_t n = line_size(in, dim), stride = line_stride(in, dim);
  kIndexTypes<kLargest>.visit(call, [&]<class T>() {
    const T* x = in.data<T>();
    int64_t* index = indices.data<int64_t>();
    const auto store = [&](int64_t k, int64_t row, T) { index[k] = row; };
    if (stride != 1 && by_columns<kLargest, T>(indices, in, store)) return;
    for_lines(
        dim, n,
        [&](const auto& at) {
          index[at[0]] = position<kLargest>(x + at[1], n, stride);
        },
        indices, in);
  });
}

HOTARU_KERNEL(kCPU, "max_dim", with_index<true>, check_types<kBothTypes<true>>);
HOTARU_KERNEL(kCPU, "min_dim", with_index<false>,
              check_types<kBothTypes<false>>);
HOTARU_KERNEL(kCPU, "argmax", index_only<true>, check_types<kIndexTypes<true>>);
HOTARU_KERNEL(kCPU, "argmin", index_only<false>,
              check_types<kIndexTypes<false>>);

}  // namespace
}  // namespace hotaru::cpu
