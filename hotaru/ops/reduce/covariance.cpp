// Covariance and correlation of variables, one a row, over observations, one a
// column.
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

void check_weights(const char* name, const Tensor& weights, int64_t count,
                   bool integral) {
  HOTARU_CHECK(weights.dim() <= 1, "cov(): expected ", name,
               " to have one or fewer dimensions but got ", name, " with ",
               weights.dim(), " dimensions");
  HOTARU_CHECK(
      integral ? is_integral(weights.dtype()) : weights.is_floating_point(),
      "cov(): expected ", name, " to have ",
      integral ? "integral" : "floating point", " dtype but got ", name,
      " with ", scalar_type_name(weights.dtype()), " dtype");
  HOTARU_CHECK(weights.numel() == count, "cov(): expected ", name,
               " to have the same numel as there are observations in the input "
               "but got ",
               weights.numel(), " != ", count);
  HOTARU_CHECK(
      count == 0 ||
          host_value(amin(weights), "the check of weights").to_double() >= 0,
      "cov(): ", name, " cannot be negative");
}

/// Frequencies `f` and importances `a` of observations, or neither.
struct Weights {
  Tensor both, a;
  Tensor sum;
};

Weights weights_of(const Tensor& f, const Tensor& a, int64_t count) {
  Weights out;
  out.a = a;
  if (f.defined()) {
    check_weights("fweights", f, count, true);
    out.both = f;
  }
  if (a.defined()) {
    check_weights("aweights", a, count, false);
    out.both = f.defined() ? f * a : a;
  }
  if (out.both.defined()) out.sum = sum(out.both);
  HOTARU_CHECK(!out.both.defined() || count == 0 ||
                   host_value(out.sum, "the check of weights").to_double() != 0,
               "cov(): weights sum to zero, can't be normalized");
  return out;
}

/// Divisor of the products' sums.
Tensor divisor(const Weights& w, int64_t count, int64_t correction) {
  if (!w.both.defined()) {
    int64_t n = 0;
    HOTARU_CHECK(!__builtin_sub_overflow(count, correction, &n),
                 "cov(): correction ", correction, " is out of range");
    return scalar_tensor(n);
  }
  if (correction == 0) return w.sum;
  if (!w.a.defined()) return w.sum - Scalar(correction);
  return w.sum - sum(w.both * w.a) * Scalar(correction) / w.sum;
}

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights,
           const Tensor& aweights) {
  HOTARU_CHECK(self.dim() <= 2,
               "cov(): expected input to have two or fewer dimensions but got "
               "an input with ",
               self.dim(), " dimensions");
  HOTARU_CHECK(self.dtype() != DType::kBool,
               "cov(): bool dtype is not supported for input");
  const Tensor rows =
      self.dim() < 2 ? view(contiguous(self), Dims{1, self.numel()}) : self;
  const int64_t count = rows.size(1);
  const Weights w = weights_of(fweights, aweights, count);
  const auto weighted = [&](const Tensor& t) {
    return w.both.defined() ? t * w.both : t;
  };
  const Tensor total = sum(weighted(rows), Dims{1});
  const Tensor mean = w.both.defined() ? total / w.sum : total / Scalar(count);
  Tensor n = divisor(w, count, correction);
  if (host_value(n, "the degrees of freedom").to_double() <= 0) {
    warn(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less "
        "than the number of observations.");
    n = zeros_like(n);
  }
  const Tensor centred = rows - unsqueeze(mean, 1);
  const Tensor products = mm(autocast::lowered(centred),
                             autocast::lowered(t(conj(weighted(centred)))));
  return squeeze(products / to(n, products.device()));
}

Tensor corrcoef(const Tensor& self) {
  HOTARU_CHECK(self.dim() <= 2,
               "corrcoef(): expected input to have two or fewer dimensions but "
               "got an input with ",
               self.dim(), " dimensions");
  const Tensor c = cov(self, 1, {}, {});
  if (c.dim() == 0) return c / c;
  const Tensor variances = diagonal(c);
  const Tensor deviations = sqrt(c.is_complex() ? real(variances) : variances);
  const Tensor out = c / unsqueeze(deviations, 1) / unsqueeze(deviations, 0);
  const Scalar low(-1), high(1);
  if (!out.is_complex()) return clamp(out, low, high);
  return complex(clamp(real(out), low, high), clamp(imag(out), low, high));
}

HOTARU_OP(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? "
    "aweights=None) -> Tensor",
    cov);
HOTARU_OP("corrcoef(Tensor self) -> Tensor", corrcoef);

}  // namespace
}  // namespace hotaru
