# ruff: noqa: E501  (a case is one line)
"""Cases of special functions: values at ordinary and corner points, dtypes,
gradients, refusals.
"""

from __future__ import annotations

from ops_eval import cases

_UNARY = (
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "entr",
    "erfcx",
    "erfinv",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "ndtr",
    "ndtri",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
)
_POLYNOMIALS = (
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
)
_SMOOTH = (
    "entr",
    "erfcx",
    "erfinv",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "ndtr",
    "ndtri",
)

_VALUES = [
    f"T.special.{name}(t([0.0, 0.3, 0.9, 1.0, 2.5, 7.0, -0.4, -3.0, nan, inf, -inf]))"
    for name in _UNARY
]
_INTEGERS = [f"T.special.{name}(t([0, 1, 2]))" for name in _UNARY]
_REFUSED = [f"T.special.{name}(t([1j]))" for name in _UNARY]
_DEGREES = [
    f"T.special.{name}(t([[-1.0], [-0.3], [0.0], [0.6], [1.0], [1.7]]), t([-1, 0, 1, 2, 3, 9]))"
    for name in _POLYNOMIALS
]
_SLOPES = [
    f"grad2(lambda a: T.special.{name}(a) * 1, t([0.2, 0.5, 0.8], dtype=T.float64))"
    for name in _SMOOTH
]
_OTHERS = [
    "T.special.xlog1py(t([0.0, 1.0, 2.0, nan, 0.0]), t([-1.0, 0.5, -1.0, 1.0, nan]))",
    "T.special.xlog1py(2, t([0.5, 1.5]))",
    "T.special.xlog1py(t([0.5, 1.5]), 2)",
    "grad2(lambda a, b: T.special.xlog1py(a, b) * 1, d(3).abs(), d(3, start=4).abs())",
    "T.special.zeta(t([1.0, 1.5, 2.0, 3.0, 0.5, 2.0, 2.0]), t([1.0, 2.0, 0.3, "
    "30.0, 1.0, -1.0, -0.5]))",
    "T.special.zeta(2, t([1.0, 2.0]))",
    "grad(lambda b: T.special.zeta(2.0, b) * 1, t([0.5, 3.0], dtype=T.float64))",
    "grad(lambda a: T.special.zeta(a, 2.0) * 1, t([1.5], dtype=T.float64))",
    "T.igamma(t([0.0, 0.5, 3.0, 50.0, 2.0, inf]), t([1.0, 0.2, 4.0, 45.0, 0.0, 1.0]))",
    "T.igammac(t([0.0, 0.5, 3.0, 50.0, 2.0, inf]), t([1.0, 0.2, 4.0, 45.0, 0.0, 1.0]))",
    "T.igamma(t([-1.0]), t([1.0]))",
    "t([1.5, 2.0]).igamma_(t([1.0, 3.0]))",
    "grad(lambda x: T.igamma(t([0.7, 2.0], dtype=T.float64), x) * 1, t([0.5, "
    "3.0], dtype=T.float64))",
    "grad(lambda x: T.igammac(t([0.7, 2.0], dtype=T.float64), x) * 1, t([0.5, "
    "3.0], dtype=T.float64))",
    "grad(lambda a: T.igamma(a, t([1.0], dtype=T.float64)) * 1, t([0.5], "
    "dtype=T.float64))",
    "[T.polygamma(n, t([0.4, 1.0, 2.5, 12.0])) for n in range(5)]",
    "T.polygamma(-1, x(2))",
    "T.polygamma(2, t([1, 2]))",
    "x(3).abs().polygamma_(1)",
    "grad2(lambda a: T.polygamma(1, a) * 1, t([0.4, 2.5], dtype=T.float64))",
    "grad2(lambda a: T.digamma(a) * 1, t([0.4, 2.5], dtype=T.float64))",
    "T.mvlgamma(t([2.5, 4.0]), 3)",
    "T.mvlgamma(t([3, 4]), 2)",
    "T.mvlgamma(t([3.0]), 0)",
    "T.mvlgamma(t([True]), 1)",
    "grad(lambda a: T.mvlgamma(a, 2) * 1, t([2.5, 4.0], dtype=T.float64))",
    "T.frexp(t([0.0, 1.0, -3.7, 1e-40, 2.0**100]))",
    "T.frexp(t([0.3, -5.0], dtype=T.bfloat16))",
    "T.frexp(t([1, 2]))",
    "grad(lambda a: T.frexp(a)[0] * 1, d(3))",
    "T.nextafter(t([0.0, 1.0, 1.0, -1.0, nan, 0.0]), t([1.0, 2.0, 0.0, -1.0, "
    "1.0, -1.0]))",
    "T.nextafter(t([0.0, 1.0, 1.0, 0.0], dtype=T.bfloat16), t([1.0, 2.0, 0.0, "
    "-1.0], dtype=T.bfloat16))",
    "T.nextafter(t([0.0, 1.0, 1.0, inf], dtype=T.float64), t([1.0, 2.0, 0.0, "
    "0.0], dtype=T.float64))",
    "T.nextafter(t([1]), t([2]))",
    "grad(lambda a, b: T.nextafter(a, b) * 1, d(3), d(3, start=2))",
    "T.erfinv(t([-1.0, -0.999999, 0.0, 1e-8, 0.999999, 1.0, 1.5]))",
    "T.erfinv(t([-0.9999999999, 1e-12, 0.9999999999], dtype=T.float64))",
    "t([0.1, 0.5]).erfinv_()",
    "T.erfinv(t([0.1, 0.5], dtype=T.bfloat16))",
    "T.special.ndtri(t([0.0, 1e-300, 1e-20, 0.5, 1.0, 2.0], dtype=T.float64))",
    "T.special.log_ndtr(t([-300.0, -40.0, -1.0, 0.0, 9.0], dtype=T.float64))",
    "T.special.erfcx(t([-30.0, -5.0, 24.9, 25.1, 1e10], dtype=T.float64))",
    "T.special.i0e(t([19.9, 20.1, 800.0, -800.0], dtype=T.float64))",
    "T.special.i1(t([19.9, 20.1, -30.0], dtype=T.float64))",
    "T.special.entr(t([0.5], dtype=T.float16))",
    "T.special.ndtri(t([0.5], dtype=T.float16))",
    "T.special.softmax(x(2, 3), 1)",
    "T.special.softmax(x(2, 3), 1, T.float64)",
    "T.special.softmax(x(2, 3), 1, dtype=None)",
    "T.special.log_softmax(x(2, 3), 1, dtype=T.float64)",
    "[T.special.expit(x(3)), T.special.psi(x(3)), T.special.gammaln(x(3)), "
    "T.special.multigammaln(x(3).abs() + 2, 2)]",
]

_NUMBER_FIRST = [
    "T.xlogy(2.0, x(4) + 3)",
    "T.xlogy(0, t([nan, 0.0, 1.0]))",
    "T.special.xlogy(2, l(3))",
    "grad(lambda a: T.xlogy(2, a), d(3) + 3)",
]

CASES = cases(
    _VALUES, _INTEGERS, _REFUSED, _DEGREES, _SLOPES, _OTHERS
)  # fmt: ski, _NUMBER_FIRST)
