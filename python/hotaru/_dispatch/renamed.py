"""Operators that PyTorch has by another name: a class or mode sees that one."""

from __future__ import annotations

_PAIRS = """
absolute abs; arccos acos; arccosh acosh; arcsin asin; arcsinh asinh; arctan
atan; arctan2 atan2; arctanh atanh; clip clamp; concat cat; concatenate cat;
fix trunc; divide div; true_divide div; multiply mul; subtract sub; negative
neg; greater gt; greater_equal ge; less lt; less_equal le; not_equal ne;
matrix_exp linalg_matrix_exp; orgqr linalg_householder_product; swapaxes
transpose; swapdims transpose; moveaxis movedim; special_erf erf; special_erfc
erfc; special_erfinv erfinv; special_expit sigmoid; special_expm1 expm1;
special_exp2 exp2; special_log1p log1p; special_digamma digamma; special_psi
digamma; special_gammaln lgamma; special_gammainc igamma; special_gammaincc
igammac; special_i0 i0; special_multigammaln mvlgamma; special_polygamma
polygamma; special_round round; special_sinc sinc; special_logit logit;
special_logsumexp logsumexp; special_xlogy xlogy; linalg_matmul matmul;
adjoint mH; row_stack vstack; trapz trapezoid; ger outer; special_softmax
softmax; special_log_softmax log_softmax; lu_solve linalg_lu_solve_; det
linalg_det; slogdet linalg_slogdet; inverse linalg_inv; matrix_power
linalg_matrix_power
"""

RENAMED: dict[str, str] = {}
for _pair in _PAIRS.replace("\n", " ").split(";"):
    _name, _other = _pair.split()
    if _other not in ("mH", "linalg_lu_solve_"):
        RENAMED[_name] = _other
        RENAMED[f"{_name}_"] = f"{_other}_"

_OVERLOADS = {
    ("transpose", "default"): "int",
    ("transpose_", "default"): "default",
    # special_round always has its decimals.
    ("round", "default"): "decimals",
    ("xlogy", "default"): "Tensor",
    ("xlogy", "self_scalar"): "Scalar_Self",
    ("xlogy", "other_scalar"): "Scalar_Other",
}


def renamed(name: str, overload: str) -> tuple[str, str]:
    """The name of the operator, and that of its overload."""
    found = RENAMED.get(name)
    if found is None:
        return name, overload
    return found, _OVERLOADS.get((found, overload), overload)
