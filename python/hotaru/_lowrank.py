"""Factors of low rank by random sampling, and LU in PyTorch's older form.

The sampling is algorithms 4.4 and 5.1 of N. Halko, P. Martinsson and J. Tropp,
Finding structure with randomness, 2009.
"""

from __future__ import annotations

from ._C import Tensor, ops
from ._functions import _warn_once
from ._overrides import overridable as _overridable

__all__ = ["lu", "pca_lowrank", "svd_lowrank"]


def _factors(A, q: int | None, niter: int | None):
    """U, S and V of a matrix that is asked for its products alone: a tensor, a
    sparse one, or what has `@`, `mH`, a shape, dtype and device.
    """
    wide = A.shape[-2] < A.shape[-1]
    adjoint = A.mH
    tall, across = (adjoint, A) if wide else (A, adjoint)
    Q = _range_of(tall, across, 6 if q is None else q, 2 if niter is None else niter)
    U, S, Vh = ops.linalg_svd((across @ Q).mH, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


def _range_of(A, adjoint, q: int, niter: int) -> Tensor:
    """Columns, q and orthonormal, that span most of A's range."""
    dtype = A.dtype
    sample = ops.randn(A.shape[-1], q, dtype=dtype, device=A.device)
    Q = ops.linalg_qr(A @ sample)[0]
    for _ in range(niter):
        Q = ops.linalg_qr(adjoint @ Q)[0]
        Q = ops.linalg_qr(A @ Q)[0]
    return Q


def _rank(q: int | None, m: int, n: int, niter: int) -> int:
    """The rank of factors of an (m, n) matrix: q, or min(6, m, n).

    ValueError for a rank or a number of iterations out of range.
    """
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than "
            f"min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return q


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V with A - M about U diag(S) V^H, of rank q.

    Args:
        niter: how often the sample is multiplied by A A^H.
        M: what to subtract, of a shape that broadcasts to A's.
    """
    if M is not None:
        A = A - M.broadcast_to(A.shape)
    return _factors(A, q, niter)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """`svd_lowrank` of A, whose columns have their means subtracted if center.

    q is min(6, m, n) if not given.
    """
    q = _rank(q, *A.shape[-2:], niter)
    if center:
        A = A - A.mean(dim=(-2,), keepdim=True)
    return svd_lowrank(A, q, niter)


def lu(A: Tensor, pivot=True, get_infos=False, out=None):
    """LU in one matrix and pivots; with infos if get_infos. Deprecated."""
    _warn_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / "
        "torch.linalg.lu_factor_ex and will be removed in a future PyTorch "
        "release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be "
        "replaced with\nLU, pivots = torch.linalg.lu_factor(A, "
        "compute_pivots)\nand\nLU, pivots, info = torch.lu(A, "
        "compute_pivots, get_infos=True)\nshould be replaced with\nLU, "
        "pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    )
    found = ops.linalg_lu_factor_ex(A, pivot=pivot, check_errors=False)
    made = tuple(found) if get_infos else tuple(found[:2])
    if out is None:
        return made
    if not isinstance(out, (tuple, list)):
        kind = type(out).__name__
        raise TypeError(f"argument 'out' must be tuple of Tensors, not {kind}")
    if len(out) - int(get_infos) != 2:
        raise TypeError(
            f"expected tuple of {2 + int(get_infos)} elements but got {len(out)}"
        )
    for to, x in zip(out, made):
        to.resize_as_(x).copy_(x)
    return out


def _lu(self: Tensor, pivot=True, get_infos=False):
    return lu(self, pivot, get_infos)


_lu.__name__ = _lu.__qualname__ = "lu"  # the method

_overridable(globals(), __all__)
