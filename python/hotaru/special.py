"""Special functions, element by element.

Integers give the default dtype; values outside a function's domain NaN.
Polynomials take the argument and the degree, either of which may be a number.
"""

from __future__ import annotations

from ._C import ops
from ._overrides import overridable as _overridable

# Under the same name with "special_" before it.
_OWN = (
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
)
__all__ = sorted((*_OWN, "log_softmax", "softmax"))

globals().update({name: getattr(ops, f"special_{name}") for name in _OWN})


def softmax(input, dim: int, dtype=None):
    """Exponentials along `dim`, divided by their sum."""
    return ops.softmax(input, dim, dtype)


def log_softmax(input, dim: int, *, dtype=None):
    """The logarithm of `softmax`."""
    return ops.log_softmax(input, dim, dtype)


_overridable(globals(), __all__)
