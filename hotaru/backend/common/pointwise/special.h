// Special functions of one and two real numbers. All are computed in double and
// rounded once, by plain functions that every dtype's loop shares: nobody feels
// their speed, and forty of them in four dtypes would be half a megabyte. The
// functions are in special_*.h, which special.cpp compiles for the CPU, and
// backend/cuda/device/pointwise/special.cu for devices.
// Those that vectorise have code of their own for floats (special_float.h).
#pragma once

#include <cstdint>
#include <limits>

#include "hotaru/backend/common/both.h"
#include "hotaru/backend/common/pointwise/pointwise.h"

namespace hotaru::special {

namespace detail {
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
}  // namespace detail

/// Functions of one number that have a form of straight-line code for floats
/// (special_float.h).
#define HOTARU_SPECIAL_FLOAT(X) \
  X(entr) \
  X(erfinv) \
  X(frexp_exponent) \
  X(frexp_mantissa) \
  X(i0) \
  X(i0e) \
  X(i1) \
  X(i1e) \
  X(modified_bessel_k0) \
  X(modified_bessel_k1) \
  X(ndtr) \
  X(ndtri) \
  X(scaled_modified_bessel_k0) \
  X(scaled_modified_bessel_k1)

/// Functions of one number. Values outside a function's domain give NaN.
#define HOTARU_SPECIAL_UNARY(X) \
  HOTARU_SPECIAL_FLOAT(X) \
  X(airy_ai) \
  X(bessel_j0) \
  X(bessel_j1) \
  X(bessel_y0) \
  X(bessel_y1) \
  X(erfcx) \
  X(log_ndtr) \
  X(spherical_bessel_j0)

/// Functions of two. Polynomials: f(x, n), where n is cut to an integer, 0 for
/// negative degrees.
#define HOTARU_SPECIAL_BINARY(X) \
  X(chebyshev_polynomial_t) \
  X(chebyshev_polynomial_u) \
  X(chebyshev_polynomial_v) \
  X(chebyshev_polynomial_w) \
  X(hermite_polynomial_h) \
  X(hermite_polynomial_he) \
  X(igamma) \
  X(igammac) \
  X(laguerre_polynomial_l) \
  X(legendre_polynomial_p) \
  X(shifted_chebyshev_polynomial_t) \
  X(shifted_chebyshev_polynomial_u) \
  X(shifted_chebyshev_polynomial_v) \
  X(shifted_chebyshev_polynomial_w) \
  X(xlog1py) \
  X(zeta)

#define HOTARU_DECLARE(name) HOTARU_BOTH double name(double x);
HOTARU_SPECIAL_UNARY(HOTARU_DECLARE)
#undef HOTARU_DECLARE
#define HOTARU_DECLARE(name) HOTARU_BOTH double name(double x, double y);
HOTARU_SPECIAL_BINARY(HOTARU_DECLARE)
#undef HOTARU_DECLARE

/// Which function a kernel applies: its place in the lists above.
#define HOTARU_NAME(name) k_##name,
enum Unary : int64_t { HOTARU_SPECIAL_UNARY(HOTARU_NAME) };
enum Binary : int64_t { HOTARU_SPECIAL_BINARY(HOTARU_NAME) };
#undef HOTARU_NAME

using UnaryFunction = double (*)(double);
using BinaryFunction = double (*)(double, double);
UnaryFunction function(Unary which);
BinaryFunction function(Binary which);

}  // namespace hotaru::special

namespace hotaru::formulas {

/// numbers.a: which function.
template <class T>
struct SpecialUnary {
  special::UnaryFunction f;
  explicit SpecialUnary(const PointwiseNumbers& n)
      : f(special::function(special::Unary(n.a.to_int()))) {}
  T operator()(T x) const { return T(f(double(x))); }
};
template <class T>
struct SpecialBinary {
  special::BinaryFunction f;
  explicit SpecialBinary(const PointwiseNumbers& n)
      : f(special::function(special::Binary(n.a.to_int()))) {}
  T operator()(T x, T y) const { return T(f(double(x), double(y))); }
};

}  // namespace hotaru::formulas
