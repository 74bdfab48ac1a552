// Binary search in sorted rows.
#include "hotaru/backend/common/sort/search.h"

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cpu/lines.h"

namespace hotaru::cpu {
namespace {

/// Position before which `value` may be inserted. Comparisons are written so
/// that NaN counts as larger than every boundary.
template <class T>
int64_t search(const T* row, const int64_t* order, int64_t n, T value,
               const SearchAttributes& a) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const T boundary = row[order ? order[middle] : middle];
    bool past = a.right ? !(boundary > value) : !(boundary >= value);
    past &= !(a.nan_last && boundary != boundary);
    if (past)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
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
    parallel_for(0, values.numel(), 2048, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t start = i / per_row * n;
        const int64_t at = search(rows + start, order ? order + start : nullptr,
                                  n, x[i], attributes);
        if (out.dtype() == DType::kInt32)
          out.data<int32_t>()[i] = int32_t(at);
        else
          out.data<int64_t>()[i] = at;
      }
    });
  });
}

HOTARU_KERNEL(kCPU, "searchsorted", searchsorted, check_types<kSearchTypes>);

}  // namespace
}  // namespace hotaru::cpu
