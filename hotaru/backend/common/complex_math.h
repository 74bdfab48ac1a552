// Functions of numbers that may be complex: the C++ library's, and where that
// has none, on devices, our own. Formulas call them as lib::exp(x).
//
// Branch cuts and values at infinity follow C99, annex G, as far as its
// functions on the host do; the inverse functions are W. Kahan's ("Branch cuts
// for complex elementary functions", 1987).
#pragma once

#include <cmath>
#include <complex>

#include "hotaru/backend/common/both.h"

namespace hotaru::lib {

using std::abs;
using std::acos;
using std::acosh;
using std::arg;
using std::asin;
using std::asinh;
using std::atan;
using std::atanh;
using std::conj;
using std::cos;
using std::cosh;
using std::exp;
using std::log;
using std::log10;
using std::norm;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;

#ifdef __CUDACC__

// Overloads for both parts' types, which are better matches than the library's
// templates; each calls the template of ours.
namespace device {

template <class R>
using Complex = std::complex<R>;

template <class R>
HOTARU_BOTH Complex<R> times_i(Complex<R> z) {
  return {-z.imag(), z.real()};
}
template <class R>
HOTARU_BOTH Complex<R> over_i(Complex<R> z) {
  return {z.imag(), -z.real()};
}

template <class R>
HOTARU_BOTH R abs(Complex<R> z) {
  return ::hypot(z.real(), z.imag());
}
template <class R>
HOTARU_BOTH R arg(Complex<R> z) {
  return ::atan2(z.imag(), z.real());
}
template <class R>
HOTARU_BOTH R norm(Complex<R> z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class R>
HOTARU_BOTH Complex<R> conj(Complex<R> z) {
  return {z.real(), -z.imag()};
}

template <class R>
HOTARU_BOTH Complex<R> exp(Complex<R> z) {
  const R e = ::exp(z.real());
  if (z.imag() == 0) return {e, z.imag()};
  if (e == 0 && !isfinite(z.imag())) return {0, 0};
  return {e * ::cos(z.imag()), e * ::sin(z.imag())};
}
template <class R>
HOTARU_BOTH Complex<R> log(Complex<R> z) {
  return {::log(device::abs(z)), device::arg(z)};
}
template <class R>
HOTARU_BOTH Complex<R> log10(Complex<R> z) {
  return device::log(z) * R(0.43429448190325182765);
}

template <class R>
HOTARU_BOTH Complex<R> sqrt(Complex<R> z) {
  const R x = z.real(), y = z.imag();
  if (x == 0 && y == 0) return {0, y};
  if (isinf(y)) return {R(INFINITY), y};
  if (isinf(x))
    return x > 0 ? Complex<R>(x, isnan(y) ? y : ::copysign(R(0), y))
                 : Complex<R>(isnan(y) ? y : R(0), ::copysign(-x, y));
  // A quarter, so that the sum does not overflow.
  const R half = ::sqrt(::fabs(x / 8) + ::hypot(x, y) / 8), t = half * 2;
  return x >= 0 ? Complex<R>(t, y / (2 * t))
                : Complex<R>(::fabs(y) / (2 * t), ::copysign(t, y));
}

template <class R>
HOTARU_BOTH Complex<R> pow(Complex<R> x, Complex<R> y) {
  if (y == Complex<R>(0)) return {1, 0};
  if (x == Complex<R>(0)) return {0, 0};
  return device::exp(y * device::log(x));
}

template <class R>
HOTARU_BOTH Complex<R> sinh(Complex<R> z) {
  return {::sinh(z.real()) * ::cos(z.imag()),
          ::cosh(z.real()) * ::sin(z.imag())};
}
template <class R>
HOTARU_BOTH Complex<R> cosh(Complex<R> z) {
  return {::cosh(z.real()) * ::cos(z.imag()),
          ::sinh(z.real()) * ::sin(z.imag())};
}
template <class R>
HOTARU_BOTH Complex<R> tanh(Complex<R> z) {
  // Where the hyperbolic sine would overflow, the result is all but one.
  if (::fabs(z.real()) > R(20))
    return {::copysign(R(1), z.real()), 4 * ::sin(z.imag()) * ::cos(z.imag()) *
                                            ::exp(-2 * ::fabs(z.real()))};
  const R t = ::tan(z.imag()), s = ::sinh(z.real());
  const R beta = 1 + t * t, rho = ::sqrt(1 + s * s), below = 1 + beta * s * s;
  if (isinf(t)) return {rho / s, 1 / t};
  return {beta * rho * s / below, t / below};
}
template <class R>
HOTARU_BOTH Complex<R> sin(Complex<R> z) {
  return over_i(device::sinh(times_i(z)));
}
template <class R>
HOTARU_BOTH Complex<R> cos(Complex<R> z) {
  return device::cosh(times_i(z));
}
template <class R>
HOTARU_BOTH Complex<R> tan(Complex<R> z) {
  return over_i(device::tanh(times_i(z)));
}

template <class R>
HOTARU_BOTH Complex<R> asin(Complex<R> z) {
  const Complex<R> a = device::sqrt(R(1) - z), b = device::sqrt(R(1) + z);
  return {::atan2(z.real(), (a * b).real()),
          ::asinh((device::conj(a) * b).imag())};
}
template <class R>
HOTARU_BOTH Complex<R> acos(Complex<R> z) {
  const Complex<R> a = device::sqrt(R(1) - z), b = device::sqrt(R(1) + z);
  return {2 * ::atan2(a.real(), b.real()),
          ::asinh((device::conj(b) * a).imag())};
}
template <class R>
HOTARU_BOTH Complex<R> asinh(Complex<R> z) {
  return over_i(device::asin(times_i(z)));
}
template <class R>
HOTARU_BOTH Complex<R> acosh(Complex<R> z) {
  const Complex<R> a = device::sqrt(z - R(1)), b = device::sqrt(z + R(1));
  return {::asinh((device::conj(a) * b).real()),
          2 * ::atan2(a.imag(), b.real())};
}
template <class R>
HOTARU_BOTH Complex<R> atanh(Complex<R> z) {
  const R x = z.real(), y = z.imag(), below = (1 - x) * (1 - x) + y * y;
  return {::log1p(4 * x / below) / 4,
          ::atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2};
}
template <class R>
HOTARU_BOTH Complex<R> atan(Complex<R> z) {
  return over_i(device::atanh(times_i(z)));
}

}  // namespace device

#define HOTARU_OVERLOAD(function) \
  HOTARU_BOTH inline auto function(std::complex<float> z) { \
    return device::function(z); \
  } \
  HOTARU_BOTH inline auto function(std::complex<double> z) { \
    return device::function(z); \
  }
HOTARU_OVERLOAD(abs)
HOTARU_OVERLOAD(acos)
HOTARU_OVERLOAD(acosh)
HOTARU_OVERLOAD(arg)
HOTARU_OVERLOAD(asin)
HOTARU_OVERLOAD(asinh)
HOTARU_OVERLOAD(atan)
HOTARU_OVERLOAD(atanh)
HOTARU_OVERLOAD(conj)
HOTARU_OVERLOAD(cos)
HOTARU_OVERLOAD(cosh)
HOTARU_OVERLOAD(exp)
HOTARU_OVERLOAD(log)
HOTARU_OVERLOAD(log10)
HOTARU_OVERLOAD(norm)
HOTARU_OVERLOAD(sin)
HOTARU_OVERLOAD(sinh)
HOTARU_OVERLOAD(sqrt)
HOTARU_OVERLOAD(tan)
HOTARU_OVERLOAD(tanh)
#undef HOTARU_OVERLOAD
HOTARU_BOTH inline std::complex<float> pow(std::complex<float> x,
                                           std::complex<float> y) {
  return device::pow(x, y);
}
HOTARU_BOTH inline std::complex<double> pow(std::complex<double> x,
                                            std::complex<double> y) {
  return device::pow(x, y);
}

#endif  // __CUDACC__

}  // namespace hotaru::lib
