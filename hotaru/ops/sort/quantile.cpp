// Quantiles: elements of the sorted row, or what lies between two of them.
#include <string>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/sort/sort.h"

namespace hotaru {
namespace {

void check(const char* op, const Tensor& self, const Tensor& q,
           const std::string& interpolation) {
  HOTARU_CHECK(self.numel() > 0, op, "() input tensor must be non-empty");
  HOTARU_CHECK(q.dim() <= 1, op,
               "() q must be a scalar or 1D tensor, but got dimension ",
               q.dim());
  HOTARU_CHECK(
      self.dtype() == DType::kFloat32 || self.dtype() == DType::kFloat64, op,
      "() input tensor must be either float or double dtype");
  HOTARU_CHECK(self.dtype() == q.dtype(), op,
               "() q tensor must be same dtype as the input tensor");
  HOTARU_CHECK(self.device() == q.device(), op,
               "() q tensor must be on the same device as the input tensor");
  HOTARU_CHECK(
      interpolation == "linear" || interpolation == "lower" ||
          interpolation == "higher" || interpolation == "midpoint" ||
          interpolation == "nearest",
      op,
      "() interpolation must be one of linear, lower, higher, midpoint or "
      "nearest, but got ",
      interpolation);
  if (!q.device().is_cpu() || q.numel() == 0) return;
  const ValueRange range = host_range(q, "the check of q");
  HOTARU_CHECK(range.lowest.to_double() >= 0 && range.highest.to_double() <= 1,
               op, "() q values must be in the range [0, 1]");
}

/// Where in each sorted row, [..., 1], the quantiles lie: [..., q].
Tensor positions(const Tensor& sorted, const Tensor& q, bool ignore_nan) {
  const int64_t last = sorted.size(-1) - 1;
  if (ignore_nan) {
    const Tensor numbers = sum(logical_not(isnan(sorted)), Dims{-1}, true);
    return clamp((to(numbers, q.dtype()) - Scalar(1)) * q, Scalar(0), {});
  }
  // NaN sorts last: a row with one has no other quantile.
  const Tensor spoilt = isnan(slice(sorted, -1, -1, {}));
  return masked_fill(
      expand(q * Scalar(last), broadcast_shapes(spoilt.sizes(), q.sizes())),
      spoilt, Scalar(last));
}

Tensor quantile(const char* op, const Tensor& self, const Tensor& q,
                const Optional<int64_t>& dim, bool keepdim,
                const std::string& interpolation, bool ignore_nan) {
  check(op, self, q, interpolation);
  if (dim) wrap_dim(*dim, self.dim());
  const Tensor rows = !dim              ? flatten(self)
                      : self.dim() == 0 ? unsqueeze(self, 0)
                                        : movedim(self, Dims{*dim}, Dims{-1});
  const Tensor sorted = std::get<0>(sort(contiguous(rows)));
  Tensor weight;
  Tensor at = positions(sorted, q.dim() ? q : unsqueeze(q, 0), ignore_nan);
  if (interpolation == "lower") at = floor(at);
  if (interpolation == "higher") at = ceil(at);
  if (interpolation == "nearest") at = round(at);
  const Tensor below = to(floor(at), DType::kInt64);
  const Tensor above = to(ceil(at), DType::kInt64);
  if (interpolation == "linear") weight = at - floor(at);
  if (interpolation == "midpoint") weight = full_like(at, Scalar(0.5));
  Tensor out = gather(sorted, -1, below);
  if (weight.defined()) out = lerp(out, gather(sorted, -1, above), weight);
  // [..., q]: the reduced dimension goes back to its place, q comes first.
  if (!dim && keepdim) {
    Dims shape(size_t(self.dim()), 1);
    shape.push_back(out.size(-1));
    out = reshape(out, shape);
  } else if (dim && keepdim && self.dim() > 0) {
    out = unsqueeze(out, wrap_dim(*dim, self.dim()));
  }
  return q.dim() ? movedim(out, Dims{-1}, Dims{0}) : squeeze(out, -1);
}

template <bool kIgnoreNan>
Tensor of_tensor(const Tensor& self, const Tensor& q,
                 const Optional<int64_t>& dim, bool keepdim,
                 const std::string& interpolation) {
  return quantile(kIgnoreNan ? "nanquantile" : "quantile", self, q, dim,
                  keepdim, interpolation, kIgnoreNan);
}

template <bool kIgnoreNan>
Tensor of_number(const Tensor& self, double q, const Optional<int64_t>& dim,
                 bool keepdim, const std::string& interpolation) {
  HOTARU_CHECK(q >= 0 && q <= 1, kIgnoreNan ? "nanquantile" : "quantile",
               "() q must be in the range [0, 1] but got ", q);
  return of_tensor<kIgnoreNan>(self,
                               scalar_tensor(q, {self.dtype(), self.device()}),
                               dim, keepdim, interpolation);
}

#define HOTARU_QUANTILE(name, ignore_nan) \
  HOTARU_OP(name \
            "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, " \
            "str interpolation='linear') -> Tensor", \
            of_tensor<ignore_nan>); \
  HOTARU_OP(name \
            ".scalar(Tensor self, float q, int? dim=None, bool " \
            "keepdim=False, *, str interpolation='linear') -> Tensor", \
            of_number<ignore_nan>)

HOTARU_QUANTILE("quantile", false);
HOTARU_QUANTILE("nanquantile", true);

}  // namespace
}  // namespace hotaru
