"""Strided tensors by which two tensors of another layout or dtype compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .. import _C
from .._C import Tensor
from ._mismatch import MismatchError

_ROWS = ("crow_indices", "col_indices")
_COLUMNS = ("ccol_indices", "row_indices")
_COMPRESSED = {
    _C.sparse_csr: ("CSR", *_ROWS),
    _C.sparse_csc: ("CSC", *_COLUMNS),
    _C.sparse_bsr: ("BSR", *_ROWS),
    _C.sparse_bsc: ("BSC", *_COLUMNS),
}


class Part(NamedTuple):
    """Two strided tensors, what a message calls them, and whether they are to be
    equal, not only close.
    """

    name: str
    actual: Tensor
    expected: Tensor
    exact: bool = False


def parts(actual: Tensor, expected: Tensor) -> Iterator[Part]:
    """Pairs to compare, of tensors of one layout, device and dtype.

    Raises MismatchError where sparse tensors have other numbers of elements.
    """
    if actual.is_quantized:
        one, other = (
            x.dequantize() if x.is_quantized else x for x in (actual, expected)
        )
        yield Part("Quantized tensor-likes", one, other)
    elif actual.layout is _C.sparse_coo:
        yield from _coordinates(actual, expected)
    elif actual.layout in _COMPRESSED:
        yield from _compressed(actual, expected)
    else:
        yield Part("Tensor-likes", actual, expected)


def _check_count(what: str, layout: str, one: int, other: int) -> None:
    if one != other:
        raise MismatchError(
            AssertionError,
            f"The number of {what} in sparse {layout} tensors does not match: "
            f"{one} != {other}",
        )


def _coordinates(actual: Tensor, expected: Tensor) -> Iterator[Part]:
    dims = actual.sparse_dim(), expected.sparse_dim()
    _check_count("sparse dimensions", "COO", *dims)
    _check_count("specified values", "COO", actual._nnz(), expected._nnz())
    indices = actual._indices(), expected._indices()
    yield Part("Sparse COO indices", *indices, exact=True)
    yield Part("Sparse COO values", actual._values(), expected._values())


def _compressed(actual: Tensor, expected: Tensor) -> Iterator[Part]:
    layout, *names = _COMPRESSED[actual.layout]
    _check_count("specified values", layout, actual._nnz(), expected._nnz())
    for name in names:
        one, other = getattr(actual, name)(), getattr(expected, name)()
        dtype = _C.promote_types(one.dtype, other.dtype)
        title = f"Sparse {layout} {name}"
        yield Part(title, one.to(dtype), other.to(dtype), exact=True)
    yield Part(f"Sparse {layout} values", actual.values(), expected.values())
