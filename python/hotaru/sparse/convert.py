"""From one layout to another."""

from __future__ import annotations

from .. import _C
from .._answering.table import answers
from .._C import Tensor
from .._tensor.sparse_names import layout_name
from . import compressed, coo
from ._kind import ANY
from .checks import check_blocksize
from .compressed import convert as compressed_convert
from .compressed.check import layout_text
from .history import linear
from .masks import sparse_mask
from .tensor import is_sparse, parts_of


@answers("to_dense", "_to_dense", of=ANY)
def to_dense(tensor: Tensor, dtype=None, *, masked_grad=None) -> Tensor:
    """A strided tensor of the same elements.

    Args:
        dtype: of the result, by default the tensor's own.
        masked_grad: whether elements that the tensor does not keep have no
            derivative, which is so by default.
    """
    if not is_sparse(tensor):
        return tensor if dtype is None else tensor.to(dtype)
    pattern = tensor.detach()
    if masked_grad is None or masked_grad:
        dense = linear(_dense, lambda g: _at_elements(g, pattern), tensor)
    else:
        dense = linear(_dense, lambda g: _whole(g, pattern), tensor)
    return dense if dtype is None else dense.to(dtype)


def _dense(tensor: Tensor) -> Tensor:
    coordinates = parts_of(tensor).layout is _C.sparse_coo
    return (coo if coordinates else compressed).to_dense(tensor)


def _at_elements(grad: Tensor, pattern: Tensor) -> Tensor:
    if pattern.is_sparse:
        pattern = coo.coalesce(pattern)
    return sparse_mask(grad, pattern)


def _whole(grad: Tensor, pattern: Tensor) -> Tensor:
    if pattern.is_sparse:
        return coo.from_dense(grad, coo.sparse_dims(pattern))
    return grad.to_sparse(
        layout=pattern.layout,
        blocksize=compressed.block_size(pattern),
        dense_dim=compressed.dense_dims(pattern),
    )


@answers("to_sparse", "_to_sparse", of=ANY)
def to_sparse(
    tensor: Tensor, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None
) -> Tensor:
    """The tensor in a sparse layout, `sparse_coo` unless another is named.

    Args:
        sparse_dim: how many leading dimensions get indices.
        layout: the layout wanted.
        blocksize: rows and columns of a block, for the blocked layouts.
        dense_dim: how many trailing dimensions stay strided.
    """
    if isinstance(sparse_dim, _C.layout):
        sparse_dim, layout = None, sparse_dim
    if isinstance(blocksize, int):
        blocksize = (blocksize, blocksize)
    if blocksize is not None:
        check_blocksize(_conversion(tensor), tuple(blocksize))
    layout = _C.sparse_coo if layout is None else layout
    if blocksize is not None and layout is _C.sparse_coo:
        raise RuntimeError(
            f"{_conversion(tensor)}: conversion from "
            f"{layout_name(tensor.layout)} to Sparse with blocksize argument "
            "given is not supported"
        )
    if layout is _C.strided:
        return to_dense(tensor)
    if layout is _C.sparse_coo:
        return _to_coo(tensor, sparse_dim, dense_dim)
    to_compressed = compressed_convert.to_compressed
    return to_compressed(tensor, layout, blocksize, dense_dim)


def _conversion(tensor: Tensor) -> str:
    return "to_sparse" if is_sparse(tensor) else "dense_to_sparse"


def _to_coo(tensor: Tensor, sparse_dim, dense_dim) -> Tensor:
    if is_sparse(tensor):
        if parts_of(tensor).layout is _C.sparse_coo:
            _check_same(sparse_dim, coo.sparse_dims(tensor))
            return tensor
        if sparse_dim not in (None, 2):
            raise RuntimeError(
                "sparse_compressed_to_sparse: conversion from "
                f"{layout_text(tensor.layout)} to Sparse with sparse_dim "
                "argument !=2 is not supported"
            )
        return compressed_convert.to_coo(tensor)
    if sparse_dim is None and dense_dim is not None:
        sparse_dim = tensor.dim() - dense_dim
    if sparse_dim is not None and not 0 <= sparse_dim <= tensor.dim():
        raise RuntimeError(
            "dense_to_sparse: sparse_dim argument must be in "
            f"[0,{tensor.dim()}] range, but {sparse_dim} is given"
        )
    if sparse_dim == 0 and tensor.dim() > 0:
        raise RuntimeError(
            "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0"
        )
    return linear(lambda x: coo.from_dense(x, sparse_dim), _strided, tensor)


def _strided(grad: Tensor) -> Tensor:
    return to_dense(grad) if is_sparse(grad) else grad


def _check_same(asked: int | None, had: int) -> None:
    if asked is not None and asked != had:
        raise RuntimeError(
            "to_sparse: conversion from Sparse to Sparse with sparse_dim "
            "argument !=self.sparse_dim() is not supported"
        )


@answers("to_sparse_coo", of=ANY)
def to_sparse_coo(tensor: Tensor) -> Tensor:
    """The tensor in coordinates."""
    return to_sparse(tensor)


@answers("to_sparse_csr", of=ANY)
def to_sparse_csr(tensor: Tensor, dense_dim=None) -> Tensor:
    """The tensor compressed by rows."""
    return to_sparse(tensor, layout=_C.sparse_csr, dense_dim=dense_dim)


@answers("to_sparse_csc", of=ANY)
def to_sparse_csc(tensor: Tensor, dense_dim=None) -> Tensor:
    """The tensor compressed by columns."""
    return to_sparse(tensor, layout=_C.sparse_csc, dense_dim=dense_dim)


@answers("to_sparse_bsr", of=ANY)
def to_sparse_bsr(tensor: Tensor, blocksize, dense_dim=None) -> Tensor:
    """The tensor in blocks, compressed by rows of them."""
    return to_sparse(
        tensor, layout=_C.sparse_bsr, blocksize=blocksize, dense_dim=dense_dim
    )


@answers("to_sparse_bsc", of=ANY)
def to_sparse_bsc(tensor: Tensor, blocksize, dense_dim=None) -> Tensor:
    """The tensor in blocks, compressed by columns of them."""
    return to_sparse(
        tensor, layout=_C.sparse_bsc, blocksize=blocksize, dense_dim=dense_dim
    )
