#include "hotaru/ops/sort/search.h"

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/sort/search.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/require.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sort/sort.h"
#include "hotaru/ops/sort/unsigned_order.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

const Kernel& kSearch = kernel("searchsorted");
const Kernel& kRunValues = kernel("run_values");

using Triple = std::tuple<Tensor, Tensor, Tensor>;

Tensor no_indices(const Tensor& like) {
  return empty(Dims{0}, {DType::kInt64, like.device()});
}

/// Which rows (or elements) of `sorted` differ from the one before; the first
/// always does. bool, [n].
Tensor run_starts(const Tensor& sorted) {
  static const elementwise::Spec kNotEqual{
      .kernel = kernel("ne"), .result = elementwise::Result::kBool};
  const int64_t n = sorted.size(0);
  const Tensor starts = empty(Dims{n}, {DType::kBool, sorted.device()});
  if (n == 0) return starts;
  fill_(narrow(starts, 0, 0, 1), true);
  if (n == 1) return starts;
  const Tensor rest = narrow(starts, 0, 1, n - 1),
               here = narrow(sorted, 0, 1, n - 1),
               before = narrow(sorted, 0, 0, n - 1);
  if (sorted.dim() == 1)
    elementwise::binary_into(kNotEqual, rest, here, before);
  else
    copy_(rest, any(flatten(ne(here, before), 1), Dims{1}));
  return starts;
}

/// Elements of a row-major vector that differ from the one before, in one pass.
Tensor run_values(const Tensor& row) {
  const Tensor room = empty_like(row);
  if (row.numel() == 0) return room;
  const Tensor count = empty(Dims{1}, {DType::kInt64, row.device()});
  enqueue(kRunValues, {write(room), write(count), read(row)});
  const int64_t n = host_value(count, "the length of the result").to_int();
  const Tensor values = narrow(room, 0, 0, n);
  // Few values do not keep a large room.
  return n > row.numel() / 2 ? values : clone(values);
}

/// Runs of equal neighbours: their first rows, the run of each position and
/// their lengths. `order` is where each position came from, or undefined.
struct Runs {
  Tensor values, inverse, counts;
};
Runs runs_of(const Tensor& rows, const Tensor& order, bool inverse,
             bool counts) {
  const int64_t n = rows.size(0);
  if (rows.dim() == 1 && !inverse && !counts)
    return {run_values(contiguous(rows)), no_indices(rows), no_indices(rows)};
  const Tensor starts = run_starts(rows);
  Runs out{{}, no_indices(rows), no_indices(rows)};
  Tensor first;
  if (counts || rows.dim() > 1) first = reshape(nonzero(starts), Dims{-1});
  out.values = rows.dim() > 1 ? index_select(rows, 0, first)
                              : masked_select(rows, starts);
  if (inverse) {
    const Tensor number = sub(cumsum(starts, 0), Scalar(1));
    out.inverse = order.defined()
                      ? scatter(empty_like(number), 0, order, number)
                      : number;
  }
  if (counts) {
    const Tensor end = full(Dims{1}, n, {DType::kInt64, rows.device()});
    out.counts = diff(first, 1, 0, {}, end);
  }
  return out;
}

/// find(self); of wide unsigned integers by those that kernels know.
template <class F>
Triple find_in_order(const Tensor& self, const F& find) {
  autograd::NoGrad guard;
  if (!is_wide_unsigned(self.dtype())) return find(self);
  const auto [values, inverse, counts] = find(in_signed_order(self));
  return {from_signed_order(values, self.dtype()), inverse, counts};
}

Tensor elements_of(const Tensor& self) {
  return reshape(self, Dims{-1});
}

/// PyTorch has no gradient for these either: it is an error in backward().
void no_gradient(const char* node, const Tensor& out, const Tensor& self) {
  refuse_gradient(node,
                  concat("the derivative for '", node, "' is not implemented."),
                  out, {self});
}

Triple slices(const Tensor& self, int64_t dim, bool sorted, bool inverse,
              bool counts) {
  dim = wrap_dim(dim, self.dim());
  const Tensor rows = movedim(self, Dims{dim}, Dims{0});
  const int64_t n = rows.size(0);
  Tensor order;
  if (sorted) {
    // Stable sorts by each column from the last to the first.
    const Tensor columns = reshape(rows, Dims{n, n ? rows.numel() / n : 0});
    order = arange(0, n, 1, {DType::kInt64, self.device()});
    for (int64_t c = columns.size(1); c-- > 0;) {
      const Tensor column = index_select(select(columns, 1, c), 0, order);
      order = index_select(order, 0, argsort(column, 0));
    }
  }
  const Tensor arranged = sorted ? index_select(rows, 0, order) : rows;
  const Runs runs = runs_of(arranged, order, inverse, counts);
  const Tensor values = movedim(runs.values, Dims{0}, Dims{dim});
  return {contiguous(values), runs.inverse, runs.counts};
}

}  // namespace

Triple unique(const Tensor& self, bool return_inverse, bool return_counts) {
  if (self.is_complex()) refuse_dtype("unique", self.dtype());
  const Triple out = find_in_order(self, [&](const Tensor& x) -> Triple {
    const auto [sorted, order] = sort(elements_of(x), 0);
    const Runs runs = runs_of(sorted, order, return_inverse, return_counts);
    return {runs.values,
            return_inverse ? reshape(runs.inverse, x.sizes()) : runs.inverse,
            runs.counts};
  });
  no_gradient("Unique2Backward0", std::get<0>(out), self);
  return out;
}

/// Slices without elements are neither equal nor different.
void check_others(const Tensor& self, int64_t dim) {
  const auto at = size_t(wrap_dim(dim, self.dim()));
  for (size_t d = 0; d < self.sizes().size(); ++d)
    HOTARU_CHECK(d == at || self.sizes()[d] != 0,
                 "There are 0 sized dimensions, and they aren't selected, so "
                 "unique cannot be applied");
}

Triple unique_consecutive(const Tensor& self, bool return_inverse,
                          bool return_counts, Optional<int64_t> dim) {
  if (self.is_complex())
    refuse_dtype(dim && self.dim() != 1 ? "unique_dim" : "unique",
                 self.dtype());
  if (dim) check_others(self, *dim);
  const Triple out = find_in_order(self, [&](const Tensor& x) -> Triple {
    if (dim) return slices(x, *dim, false, return_inverse, return_counts);
    const Runs runs =
        runs_of(elements_of(x), {}, return_inverse, return_counts);
    return {runs.values,
            return_inverse ? reshape(runs.inverse, x.sizes()) : runs.inverse,
            runs.counts};
  });
  no_gradient("UniqueConsecutiveBackward0", std::get<0>(out), self);
  return out;
}

Triple unique_dim(const Tensor& self, int64_t dim, bool return_inverse,
                  bool return_counts) {
  if (self.is_complex()) refuse_dtype("unique_dim", self.dtype());
  check_others(self, dim);
  const Triple out = find_in_order(self, [&](const Tensor& x) {
    return slices(x, dim, true, return_inverse, return_counts);
  });
  no_gradient("UniqueDimBackward0", std::get<0>(out), self);
  return out;
}

Tensor searchsorted(const Tensor& boundaries, const Tensor& values,
                    bool out_int32, bool right, const Tensor& sorter) {
  HOTARU_CHECK(boundaries.dim() > 0,
               "torch.searchsorted(): input value can be a scalar only when "
               "boundaries tensor dimension is 1, but we got boundaries tensor "
               "dim(",
               boundaries.dim(), ")");
  static constinit OnceWarning copied{
      "torch.searchsorted(): boundary tensor is non-contiguous, this will "
      "lower "
      "the performance due to extra data copy when converting non-contiguous "
      "tensor to contiguous, please use contiguous boundary tensor if "
      "possible. "
      "This message will only appear once per program."};
  if (!boundaries.is_contiguous()) copied.give();
  const auto leading = [](const Tensor& t) {
    return t.sizes().first(size_t(std::max<int64_t>(0, t.dim() - 1)));
  };
  HOTARU_CHECK(
      boundaries.dim() == 1 || (boundaries.dim() == values.dim() &&
                                same(leading(boundaries), leading(values))),
      "torch.searchsorted(): boundaries tensor should be 1 dimension "
      "or the first N-1 dimensions of boundaries tensor and input "
      "value tensor must match, but we got boundaries tensor ",
      shape_text(boundaries.sizes()), " and input value tensor ",
      shape_text(values.sizes()));
  HOTARU_CHECK(!sorter.defined() || same(sorter.sizes(), boundaries.sizes()),
               "torch.searchsorted(): boundary and sorter must have the same "
               "size, but got boundary tensor ",
               shape_text(boundaries.sizes()), "and got sorter tensor ",
               sorter.defined() ? concat(shape_text(sorter.sizes())) : "");
  autograd::NoGrad guard;
  const DType dtype = boundaries.dtype() == values.dtype()
                          ? values.dtype()
                          : result_type({boundaries, values});
  const Tensor rows = contiguous(to(boundaries, dtype));
  const Tensor x = contiguous(to(values, dtype));
  const Tensor out =
      empty(x.sizes(), {out_int32 ? DType::kInt32 : DType::kInt64, x.device()});
  if (x.numel() == 0) return out;
  const SearchAttributes attributes{right};
  if (!sorter.defined()) {
    enqueue(kSearch, {write(out), read(rows), read(x)}, attributes);
    return out;
  }
  HOTARU_CHECK(sorter.dtype() == DType::kInt64,
               "torch.searchsorted(): sorter must be a tensor of long dtype "
               "but got dtype ",
               scalar_type_name(sorter.dtype()));
  Tensor order = contiguous(sorter);
  if (sorter.numel() > 0) {
    constexpr const char* kText =
        "torch.searchsorted(): sorter index out of range";
    const Scalar last = boundaries.size(-1) - 1;
    if (requires_later(sorter)) {
      // Indices that go on nevertheless stay within the boundaries.
      const Tensor within = clamp(order, Scalar(0), last);
      require(all(eq(within, order)), kText);
      order = within;
    } else {
      const auto [lowest, highest] =
          host_range(sorter, "the check of sorter's indices");
      HOTARU_CHECK(lowest.to_int() >= 0 && highest.to_int() <= last.to_int(),
                   kText);
    }
  }
  enqueue(kSearch, {write(out), read(rows), read(x), read(order)}, attributes);
  return out;
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool invert) {
  for (const DType dtype : {elements.dtype(), test_elements.dtype()})
    HOTARU_CHECK(!is_complex(dtype) && dtype != DType::kBool,
                 "Unsupported input type encountered for isin(): ",
                 scalar_type_name(dtype));
  autograd::NoGrad guard;
  const Device device = elements.device();
  if (test_elements.numel() == 0)
    return full(elements.sizes(), invert, {DType::kBool, device});
  const DType dtype = result_type({elements, test_elements});
  if (is_wide_unsigned(dtype)) {
    return isin(in_signed_order(to(elements, dtype)),
                in_signed_order(to(test_elements, dtype)), invert);
  }
  const Tensor sorted =
      std::get<0>(sort(to(elements_of(test_elements), dtype), 0));
  const Tensor x = to(elements, dtype), values = elements_of(contiguous(x));
  const Tensor found_at = empty(values.sizes(), {DType::kInt64, device});
  if (values.numel() > 0)
    enqueue(kSearch, {write(found_at), read(sorted), read(values)},
            SearchAttributes{.nan_last = true});
  // The only boundary that may equal x is the first not below it; NaN, which
  // is sorted to the end, equals nothing.
  const Tensor at = clamp(found_at, {}, Scalar(sorted.numel() - 1));
  const Tensor found = eq(reshape(index_select(sorted, 0, at), x.sizes()), x);
  return invert ? logical_not(found) : found;
}

}  // namespace hotaru
