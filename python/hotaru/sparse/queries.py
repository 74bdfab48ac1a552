"""Answers of a sparse tensor to questions about its parts."""

from __future__ import annotations

from .. import _C
from .._answering.table import answers
from .._C import Tensor
from .._tensor.sparse_names import expected
from . import compressed
from ._kind import ANY, COO
from .checks import NOT_CONTIGUOUS
from .coo import check_coordinates
from .tensor import SparseTensor, parts_of, values_of


@answers("_indices", of=COO)
def _indices(tensor: SparseTensor) -> Tensor:
    """The indices as they are, of a tensor in coordinates."""
    return parts_of(tensor).index


@answers("_values", of=COO)
def _values(tensor: SparseTensor) -> Tensor:
    """The values as they are, without history."""
    return parts_of(tensor).values


@answers("indices", of=ANY)
def indices(tensor: SparseTensor) -> Tensor:
    """The indices of a coalesced tensor."""
    check_coordinates(tensor, "indices")
    _check_coalesced(tensor, "indices")
    return parts_of(tensor).index


@answers("values", of=ANY)
def values(tensor: SparseTensor) -> Tensor:
    """The values of a coalesced (or compressed) tensor, with its history."""
    _check_coalesced(tensor, "values")
    return values_of(tensor)


def _check_coalesced(tensor: SparseTensor, what: str) -> None:
    if tensor.is_sparse and not _C._sparse_coalesced(tensor):
        raise RuntimeError(
            f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
        )


@answers("resolve_conj", "resolve_neg", of=ANY)
def resolved(tensor: SparseTensor) -> SparseTensor:
    """The tensor itself: its numbers are as they are."""
    return tensor


@answers("storage_offset", of=ANY)
def storage_offset(tensor: SparseTensor) -> int:
    """0, though it has no storage of its own."""
    return 0


@answers("nbytes", of=COO)
def nbytes(tensor: SparseTensor) -> int:
    """RuntimeError: it has parts, which have bytes."""
    raise RuntimeError(
        "nbytes is not defined for sparse tensors.  If you want the size of "
        "the constituent tensors, add the nbytes of the indices and values.  "
        "If you want the size of the  equivalent dense tensor, multiply "
        "numel() by element_size()"
    )


@answers("contiguous", of=COO)
def contiguous(tensor: SparseTensor, memory_format=None) -> SparseTensor:
    """RuntimeError: there is no memory of its own."""
    raise RuntimeError(NOT_CONTIGUOUS)


@answers("is_coalesced", of=ANY)
def is_coalesced(tensor: SparseTensor) -> bool:
    """Tells whether its indices are known to be sorted and different."""
    check_coordinates(tensor, "is_coalesced")
    return _C._sparse_coalesced(tensor)


@answers("_coalesced_", of=ANY)
def _coalesced_(tensor: SparseTensor, coalesced: bool) -> SparseTensor:
    """Says in place whether the indices are sorted and different."""
    _C._set_sparse_coalesced(tensor, coalesced)
    return tensor


@answers("_nnz", of=ANY)
def _nnz(tensor: SparseTensor) -> int:
    """How many elements it keeps (of each batch)."""
    parts = parts_of(tensor)
    return parts.values.shape[0 if parts.inner is None else parts.index.dim() - 1]


@answers("_dimI", of=COO)
@answers("sparse_dim", of=ANY)
def sparse_dim(tensor: SparseTensor) -> int:
    """How many dimensions have indices."""
    parts = parts_of(tensor)
    return parts.index.shape[0] if parts.inner is None else 2


@answers("_dimV", of=COO)
@answers("dense_dim", of=ANY)
def dense_dim(tensor: SparseTensor) -> int:
    """How many trailing dimensions the values have of their own."""
    parts = parts_of(tensor)
    if parts.inner is None:
        return parts.values.dim() - 1
    return compressed.dense_dims(tensor)


def _compressed_part(name: str, layouts: tuple, inner: bool):
    kind = "row" if layouts == _ROWS else "column"

    def part(tensor: SparseTensor) -> Tensor:
        parts = parts_of(tensor)
        if parts.layout not in layouts:
            raise expected(name, f"sparse {kind} compressed tensor", parts.layout)
        return parts.inner if inner else parts.index

    part.__name__ = name
    part.__doc__ = f"The {name} of a compressed tensor."
    return answers(name, of=ANY)(part)


_ROWS = (_C.sparse_csr, _C.sparse_bsr)
_COLUMNS = (_C.sparse_csc, _C.sparse_bsc)
crow_indices = _compressed_part("crow_indices", _ROWS, False)
col_indices = _compressed_part("col_indices", _ROWS, True)
ccol_indices = _compressed_part("ccol_indices", _COLUMNS, False)
row_indices = _compressed_part("row_indices", _COLUMNS, True)


@answers("backward", of=ANY)
def backward(
    tensor: SparseTensor,
    gradient=None,
    retain_graph=None,
    create_graph=False,
    inputs=None,
) -> None:
    """`torch.autograd.backward` of the tensor."""
    from ..autograd import backward as run

    run(tensor, gradient, retain_graph, create_graph, inputs=inputs)
