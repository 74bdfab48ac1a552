"""Making sparse tensors of compressed layouts of indices and values."""

from __future__ import annotations

import hotaru

from .. import _C
from .._C import Tensor
from .tensor import Parts, build


def _tensor(data, dtype=None, device=None) -> Tensor:
    if isinstance(data, Tensor):
        return data.to(dtype=dtype or data.dtype, device=device or data.device)
    return hotaru.tensor(data, dtype=dtype, device=device)


def sparse_compressed_tensor(
    compressed_indices, plain_indices, values, size=None, *, dtype=None,
    layout=None, device=None, pin_memory=False, requires_grad=False,
    check_invariants=None,
) -> Tensor:  # fmt: skip
    """A tensor in one of the compressed layouts, which has to be named."""
    index = _tensor(compressed_indices, device=device)
    inner = _tensor(plain_indices, device=device)
    values = _tensor(values, dtype, device)
    made = build(Parts(layout, index, inner, values), size)
    return made.detach().requires_grad_() if requires_grad else made


def sparse_csr_tensor(
    crow_indices, col_indices, values, size=None, **options
) -> Tensor:
    """A tensor compressed by rows."""
    return sparse_compressed_tensor(
        crow_indices, col_indices, values, size, layout=_C.sparse_csr, **options
    )


def sparse_csc_tensor(
    ccol_indices, row_indices, values, size=None, **options
) -> Tensor:
    """A tensor compressed by columns."""
    return sparse_compressed_tensor(
        ccol_indices, row_indices, values, size, layout=_C.sparse_csc, **options
    )


def sparse_bsr_tensor(
    crow_indices, col_indices, values, size=None, **options
) -> Tensor:
    """A tensor in blocks, compressed by rows of them."""
    return sparse_compressed_tensor(
        crow_indices, col_indices, values, size, layout=_C.sparse_bsr, **options
    )


def sparse_bsc_tensor(
    ccol_indices, row_indices, values, size=None, **options
) -> Tensor:
    """A tensor in blocks, compressed by columns of them."""
    return sparse_compressed_tensor(
        ccol_indices, row_indices, values, size, layout=_C.sparse_bsc, **options
    )
