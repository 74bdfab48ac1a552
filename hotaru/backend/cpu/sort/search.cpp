// Binary search in sorted rows.
#include "hotaru/backend/common/sort/search.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/indexing.h"
#include "hotaru/backend/cpu/lines.h"

namespace hotaru::cpu {
namespace {

/// Sorted boundaries, and whether a value belongs behind one. Comparisons are
/// written so that NaN counts as larger than every boundary.
template <bool kRight, bool kOrder, bool kNanLast, class T>
struct Row {
  const T* row;
  const int64_t* order;
  int64_t n;

  T boundary(int64_t i) const { return row[kOrder ? order[i] : i]; }
  bool past(int64_t i, T value) const {
    const T b = boundary(i);
    const bool out = kRight ? !(b > value) : !(b >= value);
    return kNanLast ? out & !(b != b) : out;
  }
};

/// The position before which `value` may be inserted.
template <class R, class T>
int64_t search(const R& r, T value) {
  int64_t low = 0, high = r.n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (r.past(middle, value))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The same of kAtOnce values, step by step together and without branches on
/// comparisons, which nobody predicts. All take the same number of steps.
template <int kAtOnce, class R, class T, class I>
void search_some(const R& r, const T* x, I* out) {
  int64_t low[kAtOnce] = {}, left = r.n;
  for (; left > 1; left -= left / 2)
    for (int k = 0; k < kAtOnce; ++k)
      low[k] += r.past(low[k] + left / 2 - 1, x[k]) ? left / 2 : 0;
  for (int k = 0; k < kAtOnce; ++k)
    out[k] = I(low[k] + (left && r.past(low[k], x[k])));
}

/// Positions of n values that share a row of boundaries.
template <class R, class T, class I>
void search_row(const R& r, bool nan_last, const T* x, I* out, int64_t n) {
  constexpr int kAtOnce = 8;
  int64_t i = 0;
  // Boundaries that end with NaN are not sorted for these comparisons; where
  // values land depends on the order of the steps, which is PyTorch's.
  const bool sorted =
      r.n == 0 || nan_last || r.boundary(r.n - 1) == r.boundary(r.n - 1);
  if (sorted)
    for (; i + kAtOnce <= n; i += kAtOnce)
      search_some<kAtOnce>(r, x + i, out + i);
  for (; i < n; ++i) out[i] = I(search(r, x[i]));
}

template <class T, class I>
void search_row(const T* row, const int64_t* order, int64_t size, const T* x,
                I* out, int64_t n, const SearchAttributes& a) {
  const auto all = [&]<bool kRight, bool kOrder>() {
    const auto in = [&]<bool kNanLast>() {
      const Row<kRight, kOrder, kNanLast, T> r{row, order, size};
      search_row(r, kNanLast, x, out, n);
    };
    a.nan_last ? in.template operator()<true>()
               : in.template operator()<false>();
  };
  if (order)
    a.right ? all.template operator()<true, true>()
            : all.template operator()<false, true>();
  else
    a.right ? all.template operator()<true, false>()
            : all.template operator()<false, false>();
}

constexpr KernelTypes<RealTypes> kSearchTypes{1, "searchsorted_out_cpu"};

/// Operands: positions (int64 or int32), boundaries, values and optionally the
/// order that sorts the boundaries; all row-major, the floating ones of one
/// dtype. One row of boundaries serves all values; else each row its own.
void searchsorted(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &boundaries = call.tensor(1),
               &values = call.tensor(2);
  const auto& attributes = call.attributes<SearchAttributes>();
  const int64_t* order =
      call.operands().size() > 3 ? call.tensor(3).data<int64_t>() : nullptr;
  const int64_t n = boundaries.size(-1);
  const int64_t per_row = boundaries.dim() == 1 || values.dim() == 0
                              ? std::max<int64_t>(1, values.numel())
                              : values.size(-1);
  kSearchTypes.visit(call, [&]<class T>() {
    const T* rows = boundaries.data<T>();
    const T* x = values.data<T>();
    visit_index(out, [&]<class I>() {
      I* y = out.data<I>();
      parallel_for(0, values.numel(), 2048, [&](int64_t i, int64_t end) {
        while (i < end) {
          const int64_t row = i / per_row, start = row * n;
          const int64_t count = std::min(end, (row + 1) * per_row) - i;
          search_row(rows + start, order ? order + start : nullptr, n, x + i,
                     y + i, count, attributes);
          i += count;
        }
      });
    });
  });
}

HOTARU_KERNEL(kCPU, "searchsorted", searchsorted, check_types<kSearchTypes>);

}  // namespace
}  // namespace hotaru::cpu
