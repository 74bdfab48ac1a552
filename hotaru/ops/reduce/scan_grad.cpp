#include "hotaru/ops/reduce/scan_grad.h"

#include <algorithm>
#include <limits>

#include "hotaru/autograd/record.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/reduce/scan.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::grad {
namespace {

using autograd::Backward;
using autograd::saved_output;

/// Sums from each element to the end.
Tensor sum_to_end(const Tensor& t, int64_t dim) {
  if (t.dim() == 0) return t;
  return flip(cumsum(flip(t, Dims{dim}), dim), Dims{dim});
}

/// d out_j / d x_i is out_j / x_i up to the first zero of a line. For that
/// zero itself the products are those with a one in its place. Everything
/// behind it has no influence.
Tensor cumprod_gradient(const Tensor& x, const Tensor& out, const Tensor& g,
                        int64_t dim) {
  const Tensor zero = eq(x, Scalar(0));
  const Tensor zeros_so_far = cumsum(zero, dim);
  const Tensor before = eq(zeros_so_far, Scalar(0));
  const Tensor first = logical_and(zero, eq(zeros_so_far, Scalar(1)));
  const Tensor divided =
      div(sum_to_end(mul(g, conj(out)), dim), conj(masked_fill(x, zero, 1)));
  const Tensor without_first = cumprod(masked_fill(x, first, 1), dim);
  const Tensor at_first = sum_to_end(mul(g, conj(without_first)), dim);
  return where(before, divided, masked_fill(at_first, logical_not(first), 0));
}

/// s with s_i = g_i + f_i s_i+1, of factors f one fewer than g's elements:
/// first with the next element, then with twice as many in each step.
Tensor fold_from_end(Tensor factors, const Tensor& g, int64_t dim) {
  const auto part = [dim](const Tensor& t, int64_t start, int64_t count) {
    return narrow(t, dim, start, count);
  };
  const int64_t n = g.size(dim);
  Tensor sums = g;
  for (int64_t step = 1; step < n; step *= 2) {
    const int64_t left = n - step;
    sums = cat({add(part(sums, 0, left), mul(factors, part(sums, step, left))),
                part(sums, left, step)},
               dim);
    // Factors that reach twice as far, for the elements that have such.
    const int64_t next = std::max<int64_t>(0, left - step);
    factors = mul(part(factors, 0, next),
                  part(factors, std::min(step, left - next), next));
  }
  return sums;
}

/// The same without a look at zeros, for passes that are differentiated: the
/// product of the elements before one, times the sum of g's behind it with the
/// products of what lies between. Its derivatives of every order are right.
Tensor cumprod_products(const Tensor& x, const Tensor& g, int64_t dim) {
  const Tensor others = narrow(x, dim, 1, x.size(dim) - 1);
  return mul(conj(products_before(x, dim)),
             fold_from_end(conj(others), g, dim));
}

/// a - b, 0 where both are the same infinity.
Tensor difference(const Tensor& a, const Tensor& b) {
  const Tensor same = eq(a, b);
  return sub(masked_fill(a, same, 0), masked_fill(b, same, 0));
}

/// Sum over j >= i of g_j exp(x_i - out_j). As out never falls, factors are at
/// most 1. Of 16-bit numbers in float32.
Tensor from_end(const Tensor& given, const Tensor& result, const Tensor& grad,
                int64_t dim) {
  const Tensor x = widened(given), out = widened(result), g = widened(grad);
  const int64_t n = x.size(dim);
  const Tensor factors =
      exp(difference(narrow(out, dim, 0, n - 1), narrow(out, dim, 1, n - 1)));
  return to(mul(exp(difference(x, out)), fold_from_end(factors, g, dim)),
            given.dtype());
}

}  // namespace

Tensor products_before(const Tensor& x, int64_t dim) {
  return cat({ones_like(narrow(x, dim, 0, 1)),
              cumprod(narrow(x, dim, 0, x.size(dim) - 1), dim)},
             dim);
}

void cumsum(const Tensor& out, const Tensor& self, int64_t dim) {
  autograd::record("CumsumBackward0", out, {self}, {},
                   [dim, dtype = self.dtype()](
                       Backward&, const Tensor& g) -> autograd::Tensors {
                     return {to(sum_to_end(g, dim), dtype)};
                   });
}

void cumprod(const Tensor& out, const Tensor& self, int64_t dim) {
  autograd::record(
      "CumprodBackward0", out, {self}, {self, saved_output(out)},
      [dim](Backward& b, const Tensor& g) -> autograd::Tensors {
        const Tensor x = b.saved(0);
        if (x.numel() <= 1) return {to(g, x.dtype())};
        const Tensor wide = to(x, g.dtype());
        return {to(autograd::grad_enabled()
                       ? cumprod_products(wide, g, dim)
                       : cumprod_gradient(wide, b.saved(1), g, dim),
                   x.dtype())};
      });
}

void logcumsumexp(const Tensor& out, const Tensor& self, int64_t dim) {
  autograd::record("LogcumsumexpBackward0", out, {self},
                   {self, saved_output(out)},
                   [dim](Backward& b, const Tensor& g) -> autograd::Tensors {
                     const Tensor x = b.saved(0), y = b.saved(1);
                     if (x.dim() == 0 || x.numel() == 0) return {g};
                     return {from_end(x, y, g, dim)};
                   });
}

}  // namespace hotaru::grad
