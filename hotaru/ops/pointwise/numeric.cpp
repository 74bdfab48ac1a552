// Numeric operators made of others: closeness, cleaning, conversions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/create/range_bounds.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/operands.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/pointwise/pointwise_grad.h"
#include "hotaru/ops/reduce/moments.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/shape/view_dtype.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor is_infinity(const char* op, const Tensor& self, double infinity) {
  HOTARU_CHECK(!self.is_complex(), op, " does not support complex inputs.");
  return eq(self, infinity);
}

/// |a - b| <= atol + rtol |b|; infinities of one sign are close.
Tensor isclose(const Tensor& self, const Tensor& other, double rtol,
               double atol, bool equal_nan) {
  HOTARU_CHECK(self.dtype() == other.dtype(), self.dtype(), " did not match ",
               other.dtype());
  HOTARU_CHECK(rtol >= 0,
               "rtol must be greater than or equal to zero, but got ", rtol);
  HOTARU_CHECK(atol >= 0,
               "atol must be greater than or equal to zero, but got ", atol);
  Tensor close = eq(self, other);
  if (equal_nan && is_differentiable(self.dtype()))
    close = logical_or(close, logical_and(isnan(self), isnan(other)));
  if (rtol == 0 && atol == 0) return close;
  const DType wide =
      is_differentiable(self.dtype()) ? self.dtype() : default_dtype();
  const Tensor a = to(self, wide), b = to(other, wide);
  const Tensor error = abs(a - b);
  const Tensor allowed = abs(b) * rtol + atol;
  return logical_or(close, logical_and(isfinite(error), le(error, allowed)));
}

/// True if all of them hold, on the host.
bool everywhere(const Tensor& truths) {
  return host_value(all(truths), "its result, a Python bool").to_int() != 0;
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol,
              bool equal_nan) {
  return everywhere(isclose(self, other, rtol, atol, equal_nan));
}

/// Most tensors that differ do so early: the first elements are compared, then
/// parts, each eight times as long as the one before.
bool equal(const Tensor& self, const Tensor& other) {
  if (!same(self.sizes(), other.sizes())) return false;
  const Tensor a = untracked(self), b = untracked(other);
  const int64_t count = a.numel();
  constexpr int64_t kFirst = 64;
  if (count <= kFirst || !a.is_contiguous() || !b.is_contiguous())
    return everywhere(eq(a, b));
  const Tensor x = view(a, Dims{-1}), y = view(b, Dims{-1});
  for (int64_t begin = 0, size = kFirst; begin < count;) {
    size = std::min(size, count - begin);
    if (!everywhere(eq(narrow(x, 0, begin, size), narrow(y, 0, begin, size))))
      return false;
    begin += size;
    size *= 8;
  }
  return true;
}

Tensor nan_to_num(const Tensor& self, Optional<double> nan,
                  Optional<double> posinf, Optional<double> neginf) {
  if (!is_differentiable(self.dtype())) return clone(self);
  if (self.is_complex())
    return view_as_complex(nan_to_num(view_as_real(self), nan, posinf, neginf));
  // Numbers that the dtype can't hold become infinite.
  const auto number = [&](Optional<double> given, int sign) {
    double out = 0;
    visit_dtype(FloatingTypes{}, self.dtype(), "nan_to_num", [&]<class T>() {
      const double high = double(std::numeric_limits<T>::max());
      out = double(T(OpMath<T>(given.value_or(sign * high))));
    });
    return out;
  };
  static const elementwise::Spec spec{kernel("nan_to_num")};
  const Tensor out = elementwise::unary(
      spec, untracked(self),
      {number(nan, 0), number(posinf, 1), number(neginf, -1)});
  if (autograd::needs_grad(self))
    autograd::record(
        "NanToNumBackward0", out, {self}, {self},
        [](autograd::Backward& b, const Tensor& g) -> Tensors {
          return {masked_fill(g, logical_not(isfinite(b.saved(0))), 0)};
        });
  return out;
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps,
                double base, const TensorOptions& options) {
  HOTARU_CHECK(steps >= 0, "number of steps must be non-negative");
  const bool complex = start.is_complex() || end.is_complex();
  const DType dtype = options.dtype.value_or(
      complex ? to_complex(default_dtype()) : default_dtype());
  HOTARU_CHECK_AS(NotImplementedError, dtype != DType::kBool,
                  "\"logspace_cpu\" not implemented for 'Bool'");
  for (const Scalar& bound : {start, end}) check_bound(dtype, bound);
  if (is_complex(dtype))
    return pow(Scalar(base), linspace(start, end, steps, options));
  // In double from bounds of the result's precision on.
  const auto cut = [&](const Scalar& bound) {
    double out = 0;
    visit_dtype(RealTypes{}, dtype, "logspace_cpu",
                [&]<class T>() { out = double(bound.to<T>()); });
    return Scalar(out);
  };
  TensorOptions wide = options;
  wide.dtype = DType::kFloat64;
  return to(pow(Scalar(base), linspace(cut(start), cut(end), steps, wide)),
            dtype);
}

Tensor heaviside(const Tensor& self, const Tensor& values) {
  HOTARU_CHECK(!self.is_complex() && !values.is_complex(),
               "heaviside is not yet implemented for complex tensors.");
  HOTARU_CHECK(
      self.dtype() == values.dtype(),
      "heaviside is not yet implemented for tensors with different dtypes.");
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    const Tensor step = to(gt(self, 0), self.dtype());
    out = where(eq(self, 0), values, step);
  }
  refuse_gradient("heaviside", out, {self, values});
  return out;
}

Tensor sinc(const Tensor& self) {
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    // 16-bit numbers round once, at the end.
    const bool narrow = self.is_floating_point() && itemsize(self.dtype()) < 4;
    const Tensor x =
        (narrow ? to(self, DType::kFloat32) : self) * std::numbers::pi;
    out = where(eq(self, 0), ones_like(x), sin(x) / x);
    if (narrow) out = to(out, self.dtype());
  }
  if (autograd::needs_grad(self)) grads::sinc(out, self);
  return out;
}

/// g / (x (1 - x)), and outside of the limits 0, or NaN where none are given.
Tensor logit_gradient(const Tensor& g, const Tensor& x, Optional<double> eps) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double low = eps.value_or(0), high = 1 - low;
  if (!autograd::grad_enabled()) {
    static const elementwise::Spec spec{kernel("logit_grad")};
    return elementwise::binary(spec, g, x, {low, high, eps ? 0 : kNan});
  }
  // Linear in g everywhere, as tangents come by its derivative; finite where
  // x is not, as derivatives are 0 times what stands there.
  const Tensor outside = logical_or(lt(x, low), gt(x, high));
  const Tensor p = masked_fill(x, outside, 0.5);
  return g / masked_fill(p * (1 - p), outside, eps ? kInf : kNan);
}

Tensor logit(const Tensor& self, Optional<double> eps) {
  static const elementwise::Spec spec{kernel("logit")};
  HOTARU_CHECK_AS(NotImplementedError, !self.is_complex(),
                  "\"logit_cpu\" not implemented for '",
                  scalar_type_name(self.dtype()), "'");
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    const Tensor x =
        is_differentiable(self.dtype()) ? self : to(self, default_dtype());
    constexpr double kInf = std::numeric_limits<double>::infinity();
    out = elementwise::unary(spec, x,
                             {eps.value_or(-kInf), eps ? 1 - *eps : kInf});
  }
  if (autograd::needs_grad(self))
    autograd::record("LogitBackward0", out, {self}, {self},
                     [eps](autograd::Backward& b, const Tensor& g) -> Tensors {
                       return {logit_gradient(g, b.saved(0), eps)};
                     });
  return out;
}

Tensor cross(const Tensor& self, const Tensor& other, int64_t dim) {
  HOTARU_CHECK(self.dim() == other.dim(),
               "linalg.cross: inputs must have the same number of dimensions.");
  HOTARU_CHECK(self.size(dim) == 3 && other.size(dim) == 3,
               "linalg.cross: inputs dimension ", dim,
               " must have length 3. Got ", self.size(dim), " and ",
               other.size(dim));
  if (self.dtype() == DType::kBool) refuse_dtype("cross", self.dtype());
  check_operand(self.dtype(), other.dtype());
  const auto part = [dim](const Tensor& t, int64_t i) {
    return select(t, dim, i % 3);
  };
  Tensors parts;
  const Tensor a = untracked(self), b = untracked(other);
  for (int64_t i = 0; i < 3; ++i)
    parts.push_back(addcmul(part(a, i + 1) * part(b, i + 2), part(a, i + 2),
                            part(b, i + 1), -1));
  const Tensor out = stack(parts, dim);
  if (autograd::needs_grad(self, other))
    autograd::record(
        "LinalgCrossBackward0", out, {self, other}, {self, other},
        [dim](autograd::Backward& b, const Tensor& g) -> Tensors {
          const Tensor x = b.saved(0), y = b.saved(1);
          return {
              b.needs(0) ? sum_to(cross(conj(y), g, dim), x.sizes()) : Tensor(),
              b.needs(1) ? sum_to(cross(g, conj(x), dim), y.sizes())
                         : Tensor()};
        });
  return out;
}

Tensor deg2rad(const Tensor& self) {
  HOTARU_CHECK(!self.is_complex(),
               "deg2rad is not supported for complex tensors.");
  return self * (std::numbers::pi / 180);
}

Tensor rad2deg(const Tensor& self) {
  HOTARU_CHECK(!self.is_complex(),
               "rad2deg is not supported for complex tensors.");
  return self * (180 / std::numbers::pi);
}

Tensor lcm(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type({self, other});
  if (!is_integral(dtype)) refuse_dtype("lcm_cpu", dtype);
  const Tensor common = gcd(self, other);
  // Only of zeros the greatest common divisor is zero.
  const Tensor divisor = masked_fill(common, eq(common, 0), 1);
  return abs(div(self, divisor, "trunc") * other);
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return linalg_vector_norm(self - other, p);
}

TensorOptions options(const Optional<DType>& dtype,
                      const Optional<Device>& device) {
  TensorOptions out;
  out.dtype = dtype;
  out.device = device;
  return out;
}

HOTARU_OP(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float "
    "atol=1e-08, bool equal_nan=False) -> Tensor",
    isclose);
HOTARU_OP(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float "
    "atol=1e-08, bool equal_nan=False) -> bool",
    allclose);
HOTARU_OP("equal(Tensor self, Tensor other) -> bool", equal);
HOTARU_WITH_IN_PLACE("nan_to_num", "(Tensor",
                     " self, float? nan=None, float? posinf=None, float? "
                     "neginf=None)",
                     nan_to_num);

HOTARU_OP(
    "logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float "
    "base=10.0, "
    "*, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None"
    ") -> Tensor",
    +[](const Tensor& start, const Tensor& end, int64_t steps, double base,
        Optional<DType> dtype, Value, Optional<Device> device, Value) {
      check_bounds("logspace", start, end);
      return logspace(bound_of("logspace", start), bound_of("logspace", end),
                      steps, base, options(dtype, device));
    });
HOTARU_OP(
    "logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float "
    "base=10.0, "
    "*, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None"
    ") -> Tensor",
    +[](const Tensor& start, const Scalar& end, int64_t steps, double base,
        Optional<DType> dtype, Value, Optional<Device> device, Value) {
      check_bounds("logspace", start, Tensor());
      return logspace(bound_of("logspace", start), end, steps, base,
                      options(dtype, device));
    });
HOTARU_OP(
    "logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float "
    "base=10.0, "
    "*, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None"
    ") -> Tensor",
    +[](const Scalar& start, const Tensor& end, int64_t steps, double base,
        Optional<DType> dtype, Value, Optional<Device> device, Value) {
      check_bounds("logspace", Tensor(), end);
      return logspace(start, bound_of("logspace", end), steps, base,
                      options(dtype, device));
    });
HOTARU_OP(
    "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    +[](const Scalar& start, const Scalar& end, int64_t steps, double base,
        Optional<DType> dtype, Value, Optional<Device> device, Value) {
      return logspace(start, end, steps, base, options(dtype, device));
    });
HOTARU_WITH_IN_PLACE("heaviside", "(Tensor", " self, Tensor values)",
                     heaviside);
HOTARU_WITH_IN_PLACE("sinc", "(Tensor", " self)", sinc);
HOTARU_WITH_IN_PLACE("logit", "(Tensor", " self, float? eps=None)", logit);

// Other names that PyTorch's functions go by: operators of their own.
HOTARU_OP("special_digamma(Tensor self) -> Tensor", digamma);
HOTARU_OP("special_erf(Tensor self) -> Tensor", erf);
HOTARU_OP("special_erfc(Tensor self) -> Tensor", erfc);
HOTARU_OP("special_exp2(Tensor self) -> Tensor", exp2);
HOTARU_OP("special_expit(Tensor self) -> Tensor", sigmoid);
HOTARU_OP("special_expm1(Tensor self) -> Tensor", expm1);
HOTARU_OP("special_gammaln(Tensor self) -> Tensor", lgamma);
HOTARU_OP("special_log1p(Tensor self) -> Tensor", log1p);
HOTARU_OP("special_logit(Tensor self, float? eps=None) -> Tensor", logit);
HOTARU_OP(
    "special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    logsumexp);
HOTARU_OP("special_psi(Tensor self) -> Tensor", digamma);
HOTARU_OP("special_sinc(Tensor self) -> Tensor", sinc);
HOTARU_OP("special_xlogy(Tensor self, Tensor other) -> Tensor", xlogy);
HOTARU_OP(
    "special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor",
    +[](const Scalar& self, const Tensor& other) {
      return xlogy(elementwise::operand(self, other), other);
    });
HOTARU_OP(
    "special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor",
    +[](const Tensor& self, const Scalar& other) {
      return xlogy(self, elementwise::operand(other, self));
    });
HOTARU_OP("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
          cross);
HOTARU_OP(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    +[](const Tensor& self, const Tensor& other, Optional<int64_t> dim) {
      static constinit OnceWarning without_dim{
          "Using torch.cross without specifying the dim arg is "
          "deprecated.\nPlease either pass the dim explicitly or simply use "
          "torch.linalg.cross.\nThe default value of dim will change to agree "
          "with that of linalg.cross in a future release."};
      if (!dim) without_dim.give();
      int64_t at = 0;
      while (!dim && at + 1 < self.dim() && self.size(at) != 3) ++at;
      return cross(self, other, dim.value_or(at));
    });
HOTARU_OP("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", dist);
HOTARU_WITH_IN_PLACE("deg2rad", "(Tensor", " self)", deg2rad);
HOTARU_WITH_IN_PLACE("rad2deg", "(Tensor", " self)", rad2deg);
HOTARU_OP(
    "signbit(Tensor self) -> Tensor", +[](const Tensor& self) {
      HOTARU_CHECK_AS(NotImplementedError, !self.is_complex(),
                      "signbit is not implemented for complex tensors.");
      if (is_wide_unsigned(self.dtype())) return isnan(self);  // none is below
      if (!self.is_floating_point()) return lt(self, 0);
      if (itemsize(self.dtype()) == 1)
        refuse_dtype("signbit_cpu", self.dtype());
      // The sign of a number is that of its bits.
      constexpr DType kBits[] = {DType::kInt16, DType::kInt32, DType::kInt64};
      return lt(view(untracked(self), kBits[itemsize(self.dtype()) / 4]), 0);
    });
HOTARU_OP(
    "isposinf(Tensor self) -> Tensor",
    +[](const Tensor& self) { return is_infinity("isposinf", self, kInf); });
HOTARU_OP(
    "isneginf(Tensor self) -> Tensor",
    +[](const Tensor& self) { return is_infinity("isneginf", self, -kInf); });
HOTARU_WITH_IN_PLACE("lcm", "(Tensor", " self, Tensor other)", lcm);
HOTARU_OP(
    "logaddexp2(Tensor self, Tensor other) -> Tensor",
    +[](const Tensor& self, const Tensor& other) {
      const DType common = result_type({self, other});
      if (!is_floating_point(common)) refuse_dtype("logaddexp2_cpu", common);
      static const elementwise::Spec spec{kernel("logaddexp2")};
      const Tensor out = elementwise::binary(spec, self, other);
      if (autograd::needs_grad(self, other))
        grads::logaddexp2(out, self, other);
      return out;
    });

}  // namespace
}  // namespace hotaru
