// Largest and smallest elements with their positions.

#include <optional>
#include <type_traits>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/common/ways.h"
#include "hotaru/backend/cpu/grain.h"
#include "hotaru/backend/cpu/number.h"
#include "hotaru/backend/cpu/reduce/extreme_columns.h"
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

// Lines side by side, and elements of each, from which whole rows pay.
constexpr int64_t kSideBySide = 8, kRows = 2;

/// Facts that the table asks of a call: how lines lie that are not contiguous
/// and have results of equal strides. None of other lines and dtypes.
struct ExtremeSizes {
  const ReduceShape* shape;

  bool lies_across() const {
    return shape && shape->reduced.sizes.size() == 1 &&
           shape->kept.inner_stride() == 1 && !shape->kept.sizes.empty() &&
           shape->reduced.inner_size() <= (int64_t{1} << 31) - 1;
  }
  bool pays_across() const {
    return shape->kept.inner_size() >= kSideBySide &&
           shape->reduced.inner_size() >= kRows;
  }
};

/// A call: store(k, row, value) puts the results of one line, where k is its
/// offset; by_lines() does all of them.
template <bool kLargest, class F, class L>
struct Extremes : ExtremeSizes {
  const float* x;
  const F& store;
  const L& by_lines;

  /// Neighbouring lines by whole rows.
  void columns() const {
    using Columns = ExtremeColumns;
    const auto &kept = shape->kept, &reduced = shape->reduced;
    const int64_t n = reduced.inner_size(), width = kept.inner_size();
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
  }
  void lines() const { by_lines(); }
};

/// Loops of floats; C: Extremes, or what answers in its place.
template <class C>
constexpr auto kExtremeWays = std::to_array<Way<C>>({
    {"columns", "neighbouring lines at once, row by row",
     "lines side by side whose results' strides are the same",
     [](const C& c) { return c.lies_across(); },
     "8 lines side by side, of 2 elements",
     [](const C& c) { return c.pays_across(); },
     [](const C& c) { c.columns(); }},
    {"lines", "line by line, where contiguous by the value, then its place", "",
     nullptr, "", nullptr, [](const C& c) { c.lines(); }},
});

/// The shape that the table asks, of results that have the strides of `out`,
/// `other` as well.
template <class T>
std::optional<ReduceShape> shape_across(const Tensor& out, const Tensor& other,
                                        const Tensor& in, int64_t stride) {
  std::optional<ReduceShape> shape;
  if constexpr (std::is_same_v<T, float>)
    if (stride != 1 && (&out == &other || out.strides() == other.strides()))
      shape.emplace(out, in);
  return shape;
}

/// Runs a call, see Extremes.
template <bool kLargest, class T, class F, class L>
void find(const std::optional<ReduceShape>& shape, const T* x, const F& store,
          const L& by_lines) {
  if constexpr (std::is_same_v<T, float>) {
    using Call = Extremes<kLargest, F, L>;
    run_first<kExtremeWays<Call>>(
        Call{{shape ? &*shape : nullptr}, x, store, by_lines});
  } else {
    by_lines();
  }
}

/// A call that is only asked about.
struct Asked : ExtremeSizes {
  void columns() const {}
  void lines() const {}
};

/// Operands: results, one or two, and the input.
[[gnu::cold]] WayAnswers explain_extremes(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = *call.operands().back().tensor,
               &last = call.tensor(call.operands().size() - 2);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  // For other dtypes there is one way.
  if (in.dtype() != DType::kFloat32) return {};
  const auto shape = shape_across<float>(out, last, in, line_stride(in, dim));
  return explain<kExtremeWays<Asked>>(Asked{{shape ? &*shape : nullptr}});
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
  kBothTypes<kLargest>.visit(call, [&]<class T>() {
    const T* x = in.data<T>();
    T* value = values.data<T>();
    int64_t* index = indices.data<int64_t>();
    find<kLargest>(
        shape_across<T>(values, indices, in, stride), x,
        [&](int64_t k, int64_t row, T best) {
          value[k] = best;
          index[k] = row;
        },
        [&] {
          for_lines(
              dim, n,
              [&](const auto& at) {
                const T* line = x + at[2];
                const int64_t best = position<kLargest>(line, n, stride);
                index[at[1]] = best;
                value[at[0]] = clean(line[best * stride]);
              },
              values, indices, in);
        });
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
    find<kLargest>(
        shape_across<T>(indices, indices, in, stride), x,
        [&](int64_t k, int64_t row, T) { index[k] = row; },
        [&] {
          for_lines(
              dim, n,
              [&](const auto& at) {
                index[at[0]] = position<kLargest>(x + at[1], n, stride);
              },
              indices, in);
        });
  });
}

HOTARU_KERNEL(kCPU, "max_dim", with_index<true>, check_types<kBothTypes<true>>);
HOTARU_KERNEL(kCPU, "min_dim", with_index<false>,
              check_types<kBothTypes<false>>);
HOTARU_KERNEL(kCPU, "argmax", index_only<true>, check_types<kIndexTypes<true>>);
HOTARU_KERNEL(kCPU, "argmin", index_only<false>,
              check_types<kIndexTypes<false>>);
const KernelWays max_ways(DeviceType::kCPU, "max_dim", explain_extremes),
    min_ways(DeviceType::kCPU, "min_dim", explain_extremes),
    argmax_ways(DeviceType::kCPU, "argmax", explain_extremes),
    argmin_ways(DeviceType::kCPU, "argmin", explain_extremes);

}  // namespace
}  // namespace hotaru::cpu
