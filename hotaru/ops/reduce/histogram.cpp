#include "hotaru/ops/reduce/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/backend/common/reduce/histogram.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/gather.h"
#include "hotaru/ops/index/mask.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/streams/enqueue.h"

namespace hotaru {

namespace {

Tensor counted(const Tensor& self, const Tensor& weights, int64_t minlength) {
  HOTARU_CHECK_AS(NotImplementedError, is_integral(self.dtype()),
                  "\"bincount_cpu\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
  HOTARU_CHECK(minlength >= 0, "minlength should be >= 0");
  const Device device = self.device();
  autograd::NoGrad guard;
  DType dtype = DType::kInt64;
  if (weights.defined())
    dtype =
        weights.dtype() == DType::kFloat32 ? DType::kFloat32 : DType::kFloat64;
  if (self.dim() == 1 && self.numel() == 0)
    return zeros(Dims{minlength}, {DType::kInt64, device});
  constexpr const char* kWhy = "the number of bins";
  const ValueRange range = self.dim() == 1 ? host_range(self, kWhy)
                                           : ValueRange{Scalar(-1), Scalar(-1)};
  HOTARU_CHECK(range.lowest.to_int() >= 0,
               "bincount only supports 1-d non-negative integral inputs.");
  HOTARU_CHECK(!weights.defined() || same(weights.sizes(), self.sizes()),
               "weights should be 1-d and have the same length as input");
  const int64_t size = std::max(minlength, range.highest.to_int() + 1);
  const Tensor amounts = weights.defined()
                             ? to(weights, dtype)
                             : ones(self.sizes(), {dtype, device});
  return scatter_add(zeros(Dims{size}, {dtype, device}), 0,
                     to(self, DType::kInt64), amounts);
}

}  // namespace

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  const Tensor out = counted(self, weights, minlength);
  if (weights.defined()) refuse_gradient("bincount", out, {weights});
  return out;
}

namespace {

/// How far bins around the one value reach: 1, or what the dtype tells apart.
double half_width(double value, DType dtype) {
  double gap = 0;
  visit_dtype(FloatingTypes{}, dtype, "histogram_cpu", [&]<class T>() {
    gap = 2 * double(std::numeric_limits<T>::epsilon());
  });
  return std::max(1.0, std::abs(value) * gap);
}

}  // namespace

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min,
             const Scalar& max) {
  HOTARU_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins,
               " for dimension 0");
  const auto check_order = [](double low, double high) {
    HOTARU_CHECK(low <= high, "torch.histc: max must be larger than min");
  };
  check_order(min.to_double(), max.to_double());
  HOTARU_CHECK_AS(NotImplementedError, self.is_floating_point(),
                  "\"histogram_cpu\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
  autograd::NoGrad guard;
  if (self.device().type == DeviceType::kMeta)
    return empty(Dims{bins}, TensorOptions(self));
  const Tensor x = reshape(self, Dims{-1});
  double low = min.to_double(), high = max.to_double();
  if (low == high && x.numel() > 0) {
    const ValueRange range = host_range(x, "the range of bins");
    low = range.lowest.to_double();
    high = range.highest.to_double();
  }
  if (low == high) {
    const double around = half_width(low, x.dtype());
    low -= around;
    high += around;
  }
  HOTARU_CHECK(std::isfinite(low) && std::isfinite(high),
               "torch.histc: range of [", low, ", ", high, "] is not finite");
  HOTARU_CHECK(low < high, "torch.histc: max must be larger than min");
  if (itemsize(x.dtype()) >= 4) {
    static const Kernel& kHistogram = kernel("histogram");
    const Tensor out = empty(Dims{bins}, TensorOptions(x));
    const Tensor row = contiguous(x), none;
    enqueue(kHistogram, {write(out), read(row), read(none), read(none)},
            HistogramAttributes{.low = low, .high = high});
    return out;
  }
  const Tensor counts = zeros(Dims{bins}, TensorOptions(x));
  const Tensor inside = logical_and(ge(x, Scalar(low)), le(x, Scalar(high)));
  const Tensor chosen = masked_select(x, inside);
  const Tensor position =
      div(mul(sub(chosen, Scalar(low)), Scalar(bins)), Scalar(high - low));
  const Tensor bin =
      clamp(to(floor(position), DType::kInt64), {}, Scalar(bins - 1));
  return scatter_add(counts, 0, bin, ones_like(chosen));
}

namespace {

HOTARU_OP(
    "bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> "
    "Tensor",
    bincount);
HOTARU_OP(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    histc);

}  // namespace
}  // namespace hotaru
