#include "hotaru/ops/reduce/reduce_grad.h"

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/reduce_dims.h"
#include "hotaru/ops/reduce/scan_grad.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grad {
namespace {

using autograd::Backward;
using autograd::record;

/// The gradient of a reduction's result, spread over what it was made of.
Tensor spread(const Tensor& g, IntSpan sizes, IntSpan dims, bool keepdim,
              DType dtype) {
  return to(expand(restore_dims(g, dims, keepdim), sizes), dtype);
}

/// g times the products of all others: what is not zero multiplied once, then
/// divided. Its own gradient would be wrong where a line has two zeros.
Tensor product_gradient(const Tensor& g, const Tensor& x, int64_t dim) {
  const Tensor zero = eq(x, Scalar(0));
  const Tensor zeros = sum(zero, Dims{dim}, true);
  const Tensor others = prod(masked_fill(x, zero, 1), dim, true);
  const auto if_zeros = [&](int64_t count) {
    return mul(g, conj(masked_fill(others, ne(zeros, Scalar(count)), 0)));
  };
  return where(zero, if_zeros(1), div(if_zeros(0), conj(x)));
}

}  // namespace

Tensor product_of_others(const Tensor& x, int64_t dim) {
  if (x.size(dim) <= 1) return ones_like(x);
  const Tensor behind = products_before(flip(x, Dims{dim}), dim);
  return mul(products_before(x, dim), flip(behind, Dims{dim}));
}

void sum(const Tensor& out, const Tensor& self, IntSpan dims, bool keepdim) {
  const char* name = dims.empty() ? "SumBackward0" : "SumBackward1";
  record(
      name, out, {self}, {},
      [sizes = Dims(self.sizes()), dims = Dims(dims), keepdim,
       dtype = self.dtype()](Backward&, const Tensor& g) -> autograd::Tensors {
        return {spread(g, sizes, dims, keepdim, dtype)};
      });
}

void nansum(const Tensor& out, const Tensor& self, IntSpan dims, bool keepdim) {
  record("NansumBackward0", out, {self}, {self},
         [dims = Dims(dims), keepdim](Backward& b,
                                      const Tensor& g) -> autograd::Tensors {
           const Tensor x = b.saved(0);
           const Tensor all = spread(g, x.sizes(), dims, keepdim, x.dtype());
           return {mul(all, logical_not(isnan(x)))};
         });
}

void mean(const Tensor& out, const Tensor& self, IntSpan dims, bool keepdim) {
  const char* name = dims.empty() ? "MeanBackward0" : "MeanBackward1";
  const int64_t count = dims.empty() ? self.numel() : reduced_numel(self, dims);
  record(
      name, out, {self}, {},
      [sizes = Dims(self.sizes()), dims = Dims(dims), keepdim, count,
       dtype = self.dtype()](Backward&, const Tensor& g) -> autograd::Tensors {
        return {div(spread(g, sizes, dims, keepdim, dtype), Scalar(count))};
      });
}

void prod(const Tensor& out, const Tensor& self, IntSpan dims, bool keepdim) {
  const char* name = dims.empty() ? "ProdBackward0" : "ProdBackward1";
  record(name, out, {self}, {self},
         [dims = Dims(dims), keepdim](Backward& b,
                                      const Tensor& g) -> autograd::Tensors {
           const Tensor x = b.saved(0);
           if (x.dim() == 0) return {flat_in(b, to(g, x.dtype()))};
           const bool full = dims.empty();
           const Tensor flat = full ? reshape(x, Dims{-1}) : x;
           const int64_t dim = full ? 0 : dims[0];
           if (!autograd::grad_enabled() && x.numel() > 0) {
             const Tensor lines = restore_dims(to(g, x.dtype()), dims, keepdim);
             return {
                 reshape(product_gradient(
                             full ? reshape(lines, Dims{1}) : lines, flat, dim),
                         x.sizes())};
           }
           const Tensor others = product_of_others(flat, dim);
           const Tensor spread_g =
               spread(g, x.sizes(), dims, keepdim, x.dtype());
           const Tensor all = mul(spread_g, conj(reshape(others, x.sizes())));
           return {flat.size(dim) <= 1 ? flat_in(b, all) : all};
         });
}

void logsumexp(const Tensor& out, const Tensor& self, IntSpan dims,
               bool keepdim) {
  record(
      "LogsumexpBackward0", out, {self}, {self, autograd::saved_output(out)},
      [dims = Dims(dims), keepdim](Backward& b,
                                   const Tensor& g) -> autograd::Tensors {
        const Tensor x = b.saved(0);
        const Tensor total = restore_dims(b.saved(1), dims, keepdim);
        return {mul(restore_dims(g, dims, keepdim), conj(exp(sub(x, total))))};
      });
}

}  // namespace hotaru::grad
