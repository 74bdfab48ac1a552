#include "hotaru/ops/pointwise/special.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "hotaru/autograd/record.h"
#include "hotaru/backend/common/pointwise/special.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/flat.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/elementwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/refuse.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/ops/shape/view_dtype.h"

namespace hotaru {
namespace {

using autograd::Backward;
using autograd::needs_grad;
using elementwise::Compute;
using elementwise::operand;
using elementwise::Spec;
using namespace special;  // k_i0 and the like
using std::numbers::inv_sqrtpi;
using std::numbers::pi;

const Spec kUnary{kernel("special_unary"), Compute::kFloating};
const Spec kBinary{kernel("special_binary"), Compute::kFloating};
const Spec kLdexp{kernel("ldexp"), Compute::kFloating};

/// The derivative by x of y = f(x).
using Slope = Tensor (*)(const Tensor& x, const Tensor& y);

struct UnaryOp {
  const char *refusal, *node;
  Slope slope = nullptr;  // without one the result has no history
  bool half = false;      // PyTorch computes it in 16 bits, too
};

void check_dtype(const char* refusal, DType dtype, bool half) {
  if (is_complex(dtype) ||
      (!half && itemsize(dtype) == 2 && is_differentiable(dtype)))
    refuse_dtype(refusal, dtype);
}

template <Unary kWhich>
Tensor apply(const Tensor& x);

UnaryOp describe(Unary which);

Tensor apply_unary(Unary which, const Tensor& x) {
  const UnaryOp op = describe(which);
  check_dtype(op.refusal, x.dtype(), op.half);
  const Tensor y = elementwise::unary(kUnary, x, {Scalar(int64_t(which))});
  if (op.slope && needs_grad(x))
    autograd::record(
        op.node, y, {x}, {x, autograd::saved_output(y)},
        [slope = op.slope](Backward& b, const Tensor& g) -> Tensors {
          return {g * slope(b.saved(0), b.saved(1))};
        });
  return y;
}

template <Unary kWhich>
Tensor apply(const Tensor& x) {
  return apply_unary(kWhich, x);
}

/// y / x of y = i1(x) or i1e(x), and 1/2 where the quotient would have lost its
/// digits: y, and the power series beyond its first term, are next to nothing.
Tensor i1_by_x(const Tensor& x, const Tensor& y) {
  const double least = x.dtype() == DType::kFloat16 ? 1e-4 : 1e-30;
  const Tensor none = lt(abs(x), least);
  return masked_fill(y / masked_fill(x, none, 1), none, 0.5);
}

/// y / x of y = i1(x), or of y = i1e(x) if `scaled`, to be differentiated
/// again. Its derivatives vanish in the quotient's rounding near zero, so there
/// it is the power series.
Tensor i1_over_x(const Tensor& x, const Tensor& y, bool scaled) {
  const Tensor near = lt(abs(x), 1);
  const Tensor inside = masked_fill(x, logical_not(near), 0);
  const Tensor square = inside * inside;
  // 1/2 of the sum of (x x / 4)^k / (k! (k + 1)!), the last term first.
  constexpr int kTerms = 12;
  double factor = 0.5;
  for (int k = 1; k < kTerms; ++k) factor /= 4.0 * k * (k + 1);
  Tensor series = full_like(x, factor);
  for (int k = kTerms - 1; k > 0; --k) {
    factor *= 4.0 * k * (k + 1);
    series = series * square + factor;
  }
  if (scaled) series = series * exp(-abs(inside));
  return where(near, series, masked_fill(y, near, 0) / masked_fill(x, near, 1));
}

UnaryOp describe(Unary which) {
  switch (which) {
    case k_entr:
      return {"entr_cpu", "SpecialEntrBackward0",
              [](const Tensor& x, const Tensor&) { return -(log(x) + 1); },
              true};
    case k_erfcx:
      return {"erfcx_cpu", "SpecialErfcxBackward0",
              [](const Tensor& x, const Tensor& y) {
                return x * y * 2 - 2 * inv_sqrtpi;
              }};
    case k_erfinv:
      return {"erfinv_vml_cpu", "ErfinvBackward0",
              [](const Tensor&, const Tensor& y) {
                return exp(y * y) * (0.5 / inv_sqrtpi);
              },
              true};
    case k_i0:
      return {"i0_vml_cpu", "I0Backward0",
              [](const Tensor& x, const Tensor&) { return apply<k_i1>(x); },
              true};
    case k_i0e:
      return {"i0e_cpu", "SpecialI0EBackward0",
              [](const Tensor& x, const Tensor& y) {
                return apply<k_i1e>(x) - sign(x) * y;
              },
              true};
    case k_i1:
      return {"i1_cpu", "SpecialI1Backward0",
              [](const Tensor& x, const Tensor& y) {
                if (needs_grad(x))
                  return apply<k_i0>(x) - i1_over_x(x, y, false);
                return apply<k_i0>(x) - i1_by_x(x, y);
              },
              true};
    case k_i1e:
      return {"i1e_cpu", "SpecialI1EBackward0",
              [](const Tensor& x, const Tensor& y) {
                if (needs_grad(x))
                  return apply<k_i0e>(x) - sign(x) * y - i1_over_x(x, y, true);
                return apply<k_i0e>(x) - sign(x) * y - i1_by_x(x, y);
              },
              true};
    case k_log_ndtr:
      return {
          "log_ndtr_cpu", "SpecialLogNdtrBackward0",
          [](const Tensor& x, const Tensor& y) {
            // Density over probability: the quotient below 1, where both
            // vanish, by logarithms above, where erfcx overflows.
            const Tensor low = lt(x, 1);
            const Tensor below = masked_fill(x, logical_not(low), 1);
            const Tensor above = masked_fill(x, low, 1);
            return where(
                low,
                reciprocal(apply<k_erfcx>(below * (-1 / std::numbers::sqrt2))) *
                    std::sqrt(2 / pi),
                exp(above * above * -0.5 - masked_fill(y, low, 0)) *
                    (1 / std::sqrt(2 * pi)));
          }};
    case k_ndtr:
      return {"erf_vml_cpu", "SpecialNdtrBackward0",
              [](const Tensor& x, const Tensor&) {
                return exp(x * x * -0.5) * (1 / std::sqrt(2 * pi));
              },
              true};
    case k_ndtri:
      return {"ndtri_cpu", "SpecialNdtriBackward0",
              [](const Tensor&, const Tensor& y) {
                return exp(y * y * 0.5) * std::sqrt(2 * pi);
              }};
    case k_frexp_mantissa:
    case k_frexp_exponent:
      return {"frexp", "", nullptr, true};
#define HOTARU_WITHOUT_SLOPE(name) \
  case k_##name: \
    return {#name "_cpu", ""};
      HOTARU_WITHOUT_SLOPE(airy_ai)
      HOTARU_WITHOUT_SLOPE(bessel_j0)
      HOTARU_WITHOUT_SLOPE(bessel_j1)
      HOTARU_WITHOUT_SLOPE(bessel_y0)
      HOTARU_WITHOUT_SLOPE(bessel_y1)
      HOTARU_WITHOUT_SLOPE(modified_bessel_k0)
      HOTARU_WITHOUT_SLOPE(modified_bessel_k1)
      HOTARU_WITHOUT_SLOPE(scaled_modified_bessel_k0)
      HOTARU_WITHOUT_SLOPE(scaled_modified_bessel_k1)
      HOTARU_WITHOUT_SLOPE(spherical_bessel_j0)
#undef HOTARU_WITHOUT_SLOPE
  }
  fail("special: no function ", int64_t(which));
}

/// i0 and i1 under a name that has no history.
template <Unary kWhich>
Tensor constant(const Tensor& x) {
  check_dtype(
      kWhich == k_i0 ? "modified_bessel_i0_cpu" : "modified_bessel_i1_cpu",
      x.dtype(), false);
  return elementwise::unary(kUnary, x, {Scalar(int64_t(kWhich))});
}

#define HOTARU_SPECIAL(name) \
  HOTARU_OP("special_" #name "(Tensor self) -> Tensor", apply<k_##name>);
HOTARU_SPECIAL(bessel_j0)
HOTARU_SPECIAL(bessel_j1)
HOTARU_SPECIAL(bessel_y0)
HOTARU_SPECIAL(bessel_y1)
HOTARU_SPECIAL(entr)
HOTARU_SPECIAL(erfcx)
HOTARU_SPECIAL(erfinv)
HOTARU_SPECIAL(i0)
HOTARU_SPECIAL(i0e)
HOTARU_SPECIAL(i1)
HOTARU_SPECIAL(i1e)
HOTARU_SPECIAL(modified_bessel_k0)
HOTARU_SPECIAL(modified_bessel_k1)
HOTARU_SPECIAL(ndtr)
HOTARU_SPECIAL(ndtri)
HOTARU_OP("special_log_ndtr(Tensor self) -> Tensor", apply<k_log_ndtr>);
HOTARU_OP("special_airy_ai(Tensor x) -> Tensor", apply<k_airy_ai>);
HOTARU_OP("special_scaled_modified_bessel_k0(Tensor x) -> Tensor",
          apply<k_scaled_modified_bessel_k0>);
HOTARU_OP("special_scaled_modified_bessel_k1(Tensor x) -> Tensor",
          apply<k_scaled_modified_bessel_k1>);
HOTARU_OP("special_spherical_bessel_j0(Tensor x) -> Tensor",
          apply<k_spherical_bessel_j0>);
HOTARU_OP("special_modified_bessel_i0(Tensor self) -> Tensor", constant<k_i0>);
HOTARU_OP("special_modified_bessel_i1(Tensor self) -> Tensor", constant<k_i1>);
HOTARU_WITH_IN_PLACE("erfinv", "(Tensor", " self)", apply<k_erfinv>);
HOTARU_WITH_IN_PLACE("i0", "(Tensor", " self)", apply<k_i0>);

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  HOTARU_CHECK(self.is_floating_point(),
               "torch.frexp() only supports floating-point dtypes");
  Tensor mantissa, exponent;
  {
    const autograd::NoGrad no_grad;
    mantissa = apply<k_frexp_mantissa>(self);
    exponent = to(apply<k_frexp_exponent>(self), DType::kInt32);
  }
  if (needs_grad(self))
    autograd::record("FrexpBackward0", mantissa, {self}, {exponent},
                     [](Backward& b, const Tensor& g) -> Tensors {
                       return {g / exp2(to(b.saved(0), g.dtype()))};
                     });
  return {mantissa, exponent};
}

HOTARU_OP("frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
          frexp);

// --- gamma and its derivatives -----------------------------------------------

Tensor mvlgamma(const Tensor& self, int64_t p) {
  HOTARU_CHECK(self.dtype() != DType::kBool,
               "The input tensor may not be a boolean tensor.");
  HOTARU_CHECK(p >= 1, "p has to be greater than or equal to 1");
  const Tensor x =
      is_differentiable(self.dtype()) ? self : to(self, default_dtype());
  const Tensor steps = arange(Scalar(-0.5 * double(p) + 0.5), Scalar(0.5),
                              Scalar(0.5), TensorOptions(x));
  // In front, where sums add whole tensors.
  Dims front(x.dim() + 1, 1);
  front[0] = p;
  return sum(lgamma(unsqueeze(x, 0) + view(steps, front)), Dims{0}) +
         double(p) * double(p - 1) / 4 * std::log(pi);
}

HOTARU_WITH_IN_PLACE("mvlgamma", "(Tensor", " self, int p)", mvlgamma);
HOTARU_OP("special_multigammaln(Tensor self, int p) -> Tensor", mvlgamma);
HOTARU_OP("polygamma(int n, Tensor self) -> Tensor", polygamma);
HOTARU_OP("special_polygamma(int n, Tensor self) -> Tensor", polygamma);
HOTARU_OP(
    "polygamma_(Tensor(a!) self, int n) -> Tensor(a!)",
    +[](const Tensor& self, int64_t n) {
      return in_place(self, [&](const Tensor& x) { return polygamma(n, x); });
    });

// --- two numbers -------------------------------------------------------------

const char* name_of(Binary which) {
#define HOTARU_NAME(name) #name,
  static constexpr const char* kAll[] = {HOTARU_SPECIAL_BINARY(HOTARU_NAME)};
#undef HOTARU_NAME
  return kAll[which];
}

Tensor binary_of(Binary which, const Tensor& a, const Tensor& b, bool half) {
  check_dtype(concat(name_of(which), "_cpu").c_str(), result_type({a, b}),
              half);
  return elementwise::binary(kBinary, a, b, {Scalar(int64_t(which))});
}

/// A gradient brought back to an operand's shape and dtype.
Tensor back_to(const Tensor& operand_, const Tensor& g) {
  return to(sum_to(g, operand_.sizes()), operand_.dtype());
}

Tensor xlog1py(const Tensor& self, const Tensor& other) {
  const Tensor out = binary_of(k_xlog1py, self, other, true);
  if (needs_grad(self, other))
    autograd::record(
        "SpecialXlog1PyBackward0", out, {self, other}, {self, other},
        [](Backward& b, const Tensor& g) -> Tensors {
          const Tensor x = b.saved(0), y = b.saved(1);
          const Tensor nothing = logical_and(eq(x, 0), le(y, -1));
          const auto of_x = [&] {
            return masked_fill(
                g * log1p(harmless(in_precision_of(g, y), nothing)), nothing,
                0);
          };
          return {b.needs(0) ? back_to(x, of_x()) : Tensor(),
                  b.needs(1) ? back_to(y, g * x / (y + 1)) : Tensor()};
        });
  return out;
}

Tensor ldexp(const Tensor& self, const Tensor& other) {
  if (self.is_complex() || other.is_complex()) return self * exp2(other);
  const bool whole = is_integral(other.dtype(), true);
  const DType dtype = is_differentiable(self.dtype()) && whole
                          ? self.dtype()
                          : result_type({self, other});
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    // Exponents have more digits than 16-bit numbers hold.
    const bool narrow = is_differentiable(dtype) && itemsize(dtype) < 4;
    const DType in = narrow ? DType::kFloat32 : dtype;
    out = elementwise::binary(kLdexp, to(self, in),
                              whole ? to(other, in) : other);
    if (is_differentiable(dtype)) out = to(out, dtype);
  }
  if (needs_grad(self, other))
    autograd::record("LdexpBackward0", out, {self, other},
                     {self, other, autograd::saved_output(out)},
                     [](Backward& b, const Tensor& g) -> Tensors {
                       const Tensor x = b.saved(0), n = b.saved(1);
                       const auto of_exponent = [&] {
                         return g * b.saved(2) * std::numbers::ln2;
                       };
                       return {
                           b.needs(0) ? back_to(x, ldexp(g, n)) : Tensor(),
                           b.needs(1) ? back_to(n, of_exponent()) : Tensor()};
                     });
  return out;
}

Tensor zeta(const Tensor& self, const Tensor& other) {
  const Tensor out = binary_of(k_zeta, self, other, false);
  if (needs_grad(self, other))
    autograd::record("SpecialZetaBackward0", out, {self, other}, {self, other},
                     [](Backward& b, const Tensor& g) -> Tensors {
                       HOTARU_CHECK_AS(
                           NotImplementedError, !b.needs(0),
                           "the derivative for 'zeta' is not implemented.");
                       const Tensor x = b.saved(0), q = b.saved(1);
                       return {Tensor(), back_to(q, -(g * x * zeta(x + 1, q)))};
                     });
  return out;
}

/// P(a, x) or Q(a, x), which differ in their derivatives' sign.
template <Binary kWhich>
Tensor incomplete_gamma(const Tensor& self, const Tensor& other) {
  const Tensor out = binary_of(kWhich, self, other, true);
  constexpr bool kUpper = kWhich == k_igammac;
  if (needs_grad(self, other))
    autograd::record(
        kUpper ? "IgammacBackward0" : "IgammaBackward0", out, {self, other},
        {self, other}, [](Backward& b, const Tensor& g) -> Tensors {
          HOTARU_CHECK_AS(NotImplementedError, !b.needs(0),
                          "the derivative for '", kUpper ? "igammac" : "igamma",
                          ": input' is not implemented.");
          const Tensor a = b.saved(0), x = b.saved(1);
          const Tensor slope = exp((a - 1) * log(x) - x - lgamma(a));
          return {Tensor(), back_to(x, kUpper ? -(g * slope) : g * slope)};
        });
  return out;
}

template <Binary kWhich>
Tensor polynomial(const Tensor& x, const Tensor& n) {
  return binary_of(kWhich, x, n, false);
}

template <auto F>
Tensor with_number(const Tensor& a, const Scalar& b) {
  return F(a, operand(b, a));
}
template <auto F>
Tensor of_number(const Scalar& a, const Tensor& b) {
  return F(operand(a, b), b);
}

#define HOTARU_SPECIAL_PAIR(name, a, b, F) \
  HOTARU_OP("special_" name "(Tensor " a ", Tensor " b ") -> Tensor", F); \
  HOTARU_OP("special_" name "." a "_scalar(Scalar " a ", Tensor " b \
            ") -> Tensor", \
            of_number<&F>); \
  HOTARU_OP("special_" name "." b "_scalar(Tensor " a ", Scalar " b \
            ") -> Tensor", \
            with_number<&F>)
#define HOTARU_POLYNOMIAL(name) \
  HOTARU_SPECIAL_PAIR(#name, "x", "n", polynomial<k_##name>)

HOTARU_OP("ldexp.Tensor(Tensor self, Tensor other) -> Tensor", ldexp);
HOTARU_OP("ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
          InPlace<&ldexp>::call);
HOTARU_SPECIAL_PAIR("xlog1py", "self", "other", xlog1py);
HOTARU_SPECIAL_PAIR("zeta", "self", "other", zeta);
HOTARU_POLYNOMIAL(chebyshev_polynomial_t);
HOTARU_POLYNOMIAL(chebyshev_polynomial_u);
HOTARU_POLYNOMIAL(chebyshev_polynomial_v);
HOTARU_POLYNOMIAL(chebyshev_polynomial_w);
HOTARU_POLYNOMIAL(hermite_polynomial_h);
HOTARU_POLYNOMIAL(hermite_polynomial_he);
HOTARU_POLYNOMIAL(laguerre_polynomial_l);
HOTARU_POLYNOMIAL(legendre_polynomial_p);
HOTARU_POLYNOMIAL(shifted_chebyshev_polynomial_t);
HOTARU_POLYNOMIAL(shifted_chebyshev_polynomial_u);
HOTARU_POLYNOMIAL(shifted_chebyshev_polynomial_v);
HOTARU_POLYNOMIAL(shifted_chebyshev_polynomial_w);
HOTARU_WITH_IN_PLACE("igamma", "(Tensor", " self, Tensor other)",
                     incomplete_gamma<k_igamma>);
HOTARU_WITH_IN_PLACE("igammac", "(Tensor", " self, Tensor other)",
                     incomplete_gamma<k_igammac>);
HOTARU_OP("special_gammainc(Tensor self, Tensor other) -> Tensor",
          incomplete_gamma<k_igamma>);
HOTARU_OP("special_gammaincc(Tensor self, Tensor other) -> Tensor",
          incomplete_gamma<k_igammac>);

/// Neighbouring floats are neighbouring integers, but for the two zeros.
Tensor next_of_16_bits(const Tensor& self, const Tensor& other, DType dtype) {
  const autograd::NoGrad no_grad;
  const Dims shape = broadcast_shapes(self.sizes(), other.sizes());
  const Tensor x = contiguous(expand(to(self, dtype), shape));
  const Tensor y = contiguous(expand(to(other, dtype), shape));
  const auto as_float = [dtype](const Tensor& bits) {
    return view(to(bits, DType::kInt16), dtype);
  };
  const Tensor away = eq(lt(x, y), gt(x, 0));
  const Tensor step = to(away, DType::kInt16) * 2 - 1;
  const Tensor least = to(lt(y, 0), DType::kInt16) * -32768 + 1;
  const Tensor next =
      where(eq(x, 0), as_float(least), as_float(view(x, DType::kInt16) + step));
  const Tensor nan = logical_or(isnan(x), isnan(y));
  return where(nan, x + y, where(eq(x, y), y, next));
}

Tensor nextafter(const Tensor& self, const Tensor& other) {
  static const Spec spec{kernel("nextafter")};
  const DType dtype = result_type({self, other});
  if (!is_differentiable(dtype) || is_complex(dtype))
    refuse_dtype("nextafter_cpu", dtype);
  const Tensor out = itemsize(dtype) == 2
                         ? next_of_16_bits(self, other, dtype)
                         : elementwise::binary(spec, self, other);
  if (needs_grad(self, other))
    autograd::record(
        "NextafterBackward0", out, {self, other}, {self, other},
        [](Backward& b, const Tensor& g) -> Tensors {
          const Tensor x = b.saved(0), y = b.saved(1);
          return {back_to(x, masked_fill(g, eq(x, y), 0)), zeros_like(y)};
        });
  return out;
}

HOTARU_WITH_IN_PLACE("nextafter", "(Tensor", " self, Tensor other)", nextafter);

}  // namespace

Tensor polygamma(int64_t n, const Tensor& self) {
  HOTARU_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
  HOTARU_CHECK(n < std::numeric_limits<int64_t>::max(), "polygamma: the order ",
               n, " is too large");
  if (n == 0) return digamma(self);
  check_dtype("polygamma", self.dtype(), true);
  Tensor out;
  {
    const autograd::NoGrad no_grad;
    const double sign = n % 2 ? 1 : -1;
    out = n == 1 ? trigamma(self)
                 : elementwise::binary(kBinary,
                                       operand(Scalar(double(n) + 1), self),
                                       self, {Scalar(int64_t(k_zeta))}) *
                       (sign * std::exp(std::lgamma(double(n) + 1)));
  }
  if (needs_grad(self))
    autograd::record("PolygammaBackward0", out, {self}, {self},
                     [n](Backward& b, const Tensor& g) -> Tensors {
                       return {g * polygamma(n + 1, b.saved(0))};
                     });
  return out;
}

}  // namespace hotaru
