// Sorting and selecting along a dimension.
#include <algorithm>
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cpu/lines.h"
#include "hotaru/backend/cpu/sort/ways.h"

namespace hotaru::cpu {
namespace {

/// A thread's working memory.
template <class Key, class Position>
struct Entries {
  using Entry = SortEntry<Key, Position>;
  std::vector<Entry> entries, spare;

  template <class T>
  void read(const T* x, int64_t n, int64_t stride, bool descending) {
    entries.resize(size_t(n));
    const Key flip = descending ? Key(~Key{0}) : Key{0};
    for (int64_t i = 0; i < n; ++i)
      entries[size_t(i)] = {Position(i), Key(sort_key(x[i * stride]) ^ flip)};
  }
  void sort() {
    run_first<kSortWays<Entry>>(EntryLine<Entry>{
        .n = int64_t(entries.size()), .entries = &entries, .spare = &spare});
  }
  void first(int64_t k, bool sorted) {
    run_first<kFirstWays<Entry>>(EntryLine<Entry>{int64_t(entries.size()), k,
                                                  sorted, &entries, nullptr});
  }
};

/// The three strided lines that a kernel works on.
template <class T>
struct Lines {
  T* values;
  int64_t* indices;
  const T* in;
  int64_t value_stride, index_stride, in_stride, n;

  void put(int64_t i, int64_t position) const {
    values[i * value_stride] = clean(in[position * in_stride]);
    indices[i * index_stride] = position;
  }
};

/// Operands: values, indices, input. work(lines, state) for each line of the
/// input along the dimension.
template <class Types, class W>
void for_sorted(const KernelCall& call, const KernelTypes<Types>& types,
                int64_t dim, const W& work) {
  const Tensor &values = call.tensor(0), &indices = call.tensor(1),
               &in = call.tensor(2);
  const int64_t n = line_size(in, dim);
  types.visit(call, [&]<class T>() {
    const auto run = [&]<class Position>(Position) {
      using State = Entries<KeyOf<T>, Position>;
      for_lines_with(
          dim, 16 * n, [] { return State{}; },
          [&](const auto& at, State& state) {
            const Lines<T> lines{values.data<T>() + at[0],
                                 indices.data<int64_t>() + at[1],
                                 in.data<T>() + at[2],
                                 line_stride(values, dim),
                                 line_stride(indices, dim),
                                 line_stride(in, dim),
                                 n};
            work(lines, state);
          },
          values, indices, in);
    };
    if (n >> 32 == 0)
      run(uint32_t{});
    else
      run(uint64_t{});
  });
}

constexpr KernelTypes<RealAndBoolTypes> kSortTypes{
    2, "sorting_kernel_method_name"};
constexpr KernelTypes<RealTypes> kTopkTypes{2, "topk_impl_loop"};
constexpr KernelTypes<RealTypes> kKthvalueTypes{2, "kthvalue_cpu"};
constexpr KernelTypes<RealTypes> kMedianTypes{2, "median_cpu"};
constexpr KernelTypes<RealAndBoolTypes> kModeTypes{2, "mode_cpu"};

void sort(const KernelCall& call) {
  const auto& a = call.attributes<SortAttributes>();
  for_sorted(call, kSortTypes, a.dim, [&](const auto& lines, auto& state) {
    state.read(lines.in, lines.n, lines.in_stride, a.descending);
    state.sort();
    for (int64_t i = 0; i < lines.n; ++i)
      lines.put(i, int64_t(state.entries[size_t(i)].position));
  });
}

void topk(const KernelCall& call) {
  const auto& a = call.attributes<SortAttributes>();
  for_sorted(call, kTopkTypes, a.dim, [&](const auto& lines, auto& state) {
    if (a.k == 0) return;
    state.read(lines.in, lines.n, lines.in_stride, a.descending);
    state.first(a.k, a.sorted);
    for (int64_t i = 0; i < a.k; ++i)
      lines.put(i, int64_t(state.entries[size_t(i)].position));
  });
}

void kthvalue(const KernelCall& call) {
  const auto& a = call.attributes<SortAttributes>();
  for_sorted(call, kKthvalueTypes, a.dim, [&](const auto& lines, auto& state) {
    state.read(lines.in, lines.n, lines.in_stride, false);
    auto& e = state.entries;
    std::nth_element(e.begin(), e.begin() + (a.k - 1), e.end());
    lines.put(0, int64_t(e[size_t(a.k - 1)].position));
  });
}

void median(const KernelCall& call) {
  const auto& a = call.attributes<MedianAttributes>();
  for_sorted(call, kMedianTypes, a.dim, [&](const auto& lines, auto& state) {
    int64_t numbers = 0, first_nan = -1;
    for (int64_t i = 0; i < lines.n; ++i)
      if (!is_nan(lines.in[i * lines.in_stride]))
        ++numbers;
      else if (first_nan < 0)
        first_nan = i;
    if (first_nan >= 0 && (!a.skip_nan || numbers == 0))
      return lines.put(0, first_nan);
    // NaNs sort behind the numbers, so they are out of the way.
    state.read(lines.in, lines.n, lines.in_stride, false);
    auto& e = state.entries;
    const int64_t middle = (numbers - 1) / 2;
    std::nth_element(e.begin(), e.begin() + middle, e.end());
    lines.put(0, int64_t(e[size_t(middle)].position));
  });
}

/// The most frequent element, the smallest of several; its last position.
void mode(const KernelCall& call) {
  for_sorted(call, kModeTypes, call.attributes<LineAttributes>().dim,
             [&](const auto& lines, auto& state) {
               state.read(lines.in, lines.n, lines.in_stride, false);
               auto& e = state.entries;
               state.sort();
               size_t best = 0, longest = 0, start = 0;
               for (size_t i = 0; i < e.size(); ++i) {
                 if (e[i].key != e[start].key) start = i;
                 if (i - start + 1 > longest) {
                   longest = i - start + 1;
                   best = i;
                 }
               }
               lines.put(0, int64_t(e[best].position));
             });
}

// Tables ask how long lines are, not what of.
using AnyEntry = SortEntry<uint32_t, uint32_t>;

[[gnu::cold]] WayAnswers explain_lines(const Tensor& in, int64_t dim) {
  return explain<kSortWays<AnyEntry>>(
      EntryLine<AnyEntry>{.n = line_size(in, dim)});
}
[[gnu::cold]] WayAnswers explain_sort(const KernelCall& call) {
  return explain_lines(call.tensor(2), call.attributes<SortAttributes>().dim);
}
[[gnu::cold]] WayAnswers explain_mode(const KernelCall& call) {
  return explain_lines(call.tensor(2), call.attributes<LineAttributes>().dim);
}
[[gnu::cold]] WayAnswers explain_topk(const KernelCall& call) {
  const auto& a = call.attributes<SortAttributes>();
  return explain<kFirstWays<AnyEntry>>(
      EntryLine<AnyEntry>{.n = line_size(call.tensor(2), a.dim), .k = a.k});
}

HOTARU_KERNEL(kCPU, "sort", sort, check_types<kSortTypes>);
HOTARU_KERNEL(kCPU, "topk", topk, check_types<kTopkTypes>);
HOTARU_KERNEL(kCPU, "kthvalue", kthvalue, check_types<kKthvalueTypes>);
HOTARU_KERNEL(kCPU, "median", median, check_types<kMedianTypes>);
HOTARU_KERNEL(kCPU, "mode", mode, check_types<kModeTypes>);
const KernelWays sort_ways(DeviceType::kCPU, "sort", explain_sort),
    topk_ways(DeviceType::kCPU, "topk", explain_topk),
    mode_ways(DeviceType::kCPU, "mode", explain_mode);

}  // namespace
}  // namespace hotaru::cpu
