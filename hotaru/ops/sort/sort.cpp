#include "hotaru/ops/sort/sort.h"

#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/line_result.h"
#include "hotaru/ops/reduce/extremum_grad.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sort/unsigned_order.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {
namespace {

const Kernel& kSort = kernel("sort");
const Kernel& kTopk = kernel("topk");
const Kernel& kKthvalue = kernel("kthvalue");
const Kernel& kMedian = kernel("median");
const Kernel& kMode = kernel("mode");

ValuesAndIndices sorted(const char* node, const Tensor& self, int64_t dim,
                        bool descending) {
  dim = wrap_dim(dim, self.dim());
  HOTARU_CHECK(!self.is_complex(), " Sort does not support complex dtypes on ",
               "CPU");
  if (is_wide_unsigned(self.dtype())) {
    const auto [values, indices] =
        sorted(node, in_signed_order(self), dim, descending);
    return {from_signed_order(values, self.dtype()), indices};
  }
  const Tensor values = empty_like(self);
  const Tensor indices = empty_strided(self.sizes(), values.strides(),
                                       {DType::kInt64, self.device()});
  if (self.numel() > 0)
    enqueue(kSort, {write(values), write(indices), read(self)},
            SortAttributes{.dim = dim, .descending = descending});
  if (autograd::needs_grad(self))
    grad::selection(node, values, indices, self, dim, true);
  return {values, indices};
}

ValuesAndIndices run_median(const char* op, const char* node,
                            const Tensor& self, int64_t dim, bool keepdim,
                            bool skip_nan) {
  dim = wrap_dim(dim, self.dim());
  check_nonempty_dim(op, self, dim);
  const auto [values, indices] = run_selection(kMedian, self, dim, keepdim,
                                               MedianAttributes{dim, skip_nan});
  if (autograd::needs_grad(self))
    grad::selection(node, values, indices, self, dim, keepdim);
  return {values, indices};
}

Tensor full_median(const char* node, const Tensor& self, bool skip_nan) {
  Tensor out;
  {
    autograd::NoGrad guard;
    if (self.numel() == 0) {
      // NaN as far as there is one in the dtype.
      const double nan = std::numeric_limits<double>::quiet_NaN();
      out =
          to(full(Dims{}, nan, {DType::kFloat64, self.device()}), self.dtype());
    } else {
      out = std::get<0>(run_selection(kMedian, reshape(self, Dims{-1}), 0,
                                      false, MedianAttributes{0, skip_nan}));
    }
  }
  if (autograd::needs_grad(self))
    grad::extremum(node, out, self, reduced_dims(self, {}), false);
  return out;
}

}  // namespace

ValuesAndIndices sort(const Tensor& self, int64_t dim, bool descending) {
  return sorted("SortBackward0", self, dim, descending);
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  autograd::NoGrad guard;
  return std::get<1>(sort(self, dim, descending));
}

ValuesAndIndices topk(const Tensor& self, int64_t k, int64_t dim, bool largest,
                      bool is_sorted) {
  dim = wrap_dim(dim, self.dim());
  const int64_t n = self.dim() ? self.size(dim) : 1;
  HOTARU_CHECK(k >= 0 && k <= n, "selected index k out of range");
  if (self.dim() == 0) k = 1;  // there is no empty scalar
  HOTARU_CHECK(!self.is_complex(), " topk does not support complex dtypes on ",
               "CPU");
  HOTARU_CHECK(self.dtype() != DType::kBool,
               "topk does not support bool dtypes on CPU");
  Dims sizes(self.sizes());
  if (!sizes.empty()) sizes[size_t(dim)] = k;
  const Tensor values = empty(sizes, TensorOptions(self));
  const Tensor indices = empty(sizes, {DType::kInt64, self.device()});
  if (values.numel() > 0)
    enqueue(kTopk, {write(values), write(indices), read(self)},
            SortAttributes{dim, largest, is_sorted, k});
  if (autograd::needs_grad(self))
    grad::selection("TopkBackward0", values, indices, self, dim, true);
  return {values, indices};
}

ValuesAndIndices kthvalue(const Tensor& self, int64_t k, int64_t dim,
                          bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  check_nonempty_dim("kthvalue", self, dim);
  const int64_t n = self.dim() ? self.size(dim) : 1;
  HOTARU_CHECK(k >= 1 && k <= n,
               "kthvalue(): selected number k out of range for dimension ",
               dim);
  const auto [values, indices] =
      self.dim() == 0 ? only_element(self)
                      : run_selection(kKthvalue, self, dim, keepdim,
                                      SortAttributes{.dim = dim, .k = k});
  if (autograd::needs_grad(self))
    grad::selection("KthvalueBackward0", values, indices, self, dim, keepdim);
  return {values, indices};
}

Tensor median(const Tensor& self) {
  return full_median("MedianBackward0", self, false);
}
Tensor nanmedian(const Tensor& self) {
  return full_median("NanmedianBackward0", self, true);
}
ValuesAndIndices median(const Tensor& self, int64_t dim, bool keepdim) {
  return run_median("median", "MedianBackward1", self, dim, keepdim, false);
}
ValuesAndIndices nanmedian(const Tensor& self, int64_t dim, bool keepdim) {
  return run_median("nanmedian", "NanmedianBackward1", self, dim, keepdim,
                    true);
}

ValuesAndIndices mode(const Tensor& self, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  check_nonempty_dim("mode", self, dim);
  const auto [values, indices] =
      self.dim() == 0
          ? only_element(self)
          : run_selection(kMode, self, dim, keepdim, LineAttributes{dim});
  if (autograd::needs_grad(self))
    grad::selection("ModeBackward0", values, indices, self, dim, keepdim);
  return {values, indices};
}

namespace {

using Full = Tensor (*)(const Tensor&);
using Along = ValuesAndIndices (*)(const Tensor&, int64_t, bool);

HOTARU_OP(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, "
    "Tensor indices)",
    sort);
HOTARU_OP(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool "
    "descending=False) -> (Tensor values, Tensor indices)",
    +[](const Tensor& self, Optional<bool>, int64_t dim, bool descending) {
      return sorted("SortBackward1", self, dim, descending);
    });
HOTARU_OP("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
          argsort);
HOTARU_OP(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool "
    "descending=False) -> Tensor",
    +[](const Tensor& self, bool, int64_t dim, bool descending) {
      return argsort(self, dim, descending);
    });
HOTARU_OP(
    "msort(Tensor self) -> Tensor",
    +[](const Tensor& self) { return std::get<0>(sort(self, 0)); });
HOTARU_OP(
    "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool "
    "sorted=True) -> (Tensor values, Tensor indices)",
    topk);
HOTARU_OP(
    "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> "
    "(Tensor values, Tensor indices)",
    kthvalue);
HOTARU_OP("median(Tensor self) -> Tensor", static_cast<Full>(median));
HOTARU_OP(
    "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
    "Tensor indices)",
    static_cast<Along>(median));
HOTARU_OP("nanmedian(Tensor self) -> Tensor", static_cast<Full>(nanmedian));
HOTARU_OP(
    "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor "
    "values, Tensor indices)",
    static_cast<Along>(nanmedian));
HOTARU_OP(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, "
    "Tensor indices)",
    mode);

}  // namespace
}  // namespace hotaru
