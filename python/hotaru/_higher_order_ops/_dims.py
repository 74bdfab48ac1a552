"""The dimension that scans run along."""

from __future__ import annotations

from .._dims import wrap_dim

__all__ = ["canonical_dim", "check_leaves"]


def canonical_dim(ndim: int, dim):
    """`dim` from 0 on; IndexError where there is no such dimension. What is no
    number comes back as it is.
    """
    if not isinstance(dim, (int, float)):
        return dim
    return wrap_dim(dim, ndim)


def check_leaves(xs: list, dim: int, error: type) -> None:
    """Raises `error` where a tensor has no such dimension, or none along it."""
    if any(x.ndim <= dim or x.shape[dim] == 0 for x in xs):
        raise error(
            "All xs leaves must at least have 'dim' number of dimensions and "
            "scan dimension > 0"
        )
