"""Systems of linear equations with a compressed matrix."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from .._kind import CSX
from .check import layout_text


@answers("triangular_solve", of=CSX)
def triangular_solve(
    b: Tensor,
    a: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
):
    """The solution of a @ x = b with a triangular matrix in `sparse_csr` or
    `sparse_bsr`, and an empty tensor; NaN if the matrix has no elements.

    The matrix becomes strided for the time of the call: n * n elements.
    """
    if a.layout not in (_C.sparse_csr, _C.sparse_bsr):
        raise ValueError(
            f"triangular_solve: unsupported sparse layout {layout_text(a.layout)}."
        )
    none = hotaru.empty((0,), dtype=a.dtype, device=a.device)
    kind = type(hotaru.triangular_solve(none.reshape(0, 0), none.reshape(0, 0)))
    if a._nnz() == 0:
        solution = hotaru.full_like(b, float("nan"))
    else:
        solution = hotaru.triangular_solve(
            b, a.to_dense(), upper, transpose, unitriangular
        )[0]
    return kind((solution, none))
