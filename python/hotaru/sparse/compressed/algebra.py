"""Which operators multiply compressed tensors: mm, mv, addmm, matmul, ..."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from .._kind import CSX
from ..checks import check_product
from ..history import bilinear
from ..tensor import is_sparse
from .check import layout_text
from .product import dense_sparse, product, sparse_dense


def _like_strided(name: str, *tensors: Tensor) -> None:
    """The errors that the operator has for strided tensors of these sizes."""
    shapes = (hotaru.empty(tuple(x.shape), device="meta") for x in tensors)
    getattr(hotaru, name)(*shapes)


def _no_code(c: Tensor, a: Tensor, b: Tensor) -> RuntimeError:
    sum_, left, right = (layout_text(x.layout) for x in (c, a, b))
    return RuntimeError(
        f"addmm: computation on CPU is not implemented for {sum_} + {left} @ {right}"
    )


def _refuse_unknown(c: Tensor, a: Tensor, b: Tensor) -> None:
    """RuntimeError where PyTorch has no code for the layouts."""
    kinds = [x.layout for x in (c, a, b)]
    blocks = (_C.sparse_bsr, _C.sparse_bsc)
    strided = _C.strided in kinds[1:]
    if (
        _C.sparse_coo in kinds
        or kinds[1] is _C.sparse_bsc
        or kinds[2] is _C.sparse_bsr
        or (not strided and (kinds[1] in blocks or kinds[2] in blocks))
    ):
        raise _no_code(c, a, b)


def whole(a: Tensor, b: Tensor) -> Tensor:
    """The product of a sparse and a strided matrix; both derivatives are
    strided, as those of PyTorch's mm are: of places without elements, too.
    """
    return bilinear(product, _back, a, b)


def _back(grad: Tensor, a: Tensor, b: Tensor, need) -> tuple:
    return (
        mm(grad, _adjoint(b)) if need[0] else None,
        mm(_adjoint(a), grad) if need[1] else None,
    )


def _adjoint(x: Tensor) -> Tensor:
    turned = x.transpose(0, 1)
    return turned.conj() if turned.is_complex() else turned


@answers("mm", "smm", "hspmm", of=CSX)
def mm(a: Tensor, b: Tensor) -> Tensor:
    """The product of two matrices: `sparse_csr` if both are sparse, else
    strided, with strided derivatives.
    """
    if not is_sparse(a) and not is_sparse(b):
        return hotaru.mm(a, b)
    _check_mm(a, b)
    both = is_sparse(a) and is_sparse(b)
    return product(a, b) if both else whole(a, b)


@answers("_sparse_mm", of=CSX)
def sparse_mm(a: Tensor, b: Tensor) -> Tensor:
    """The same whose derivatives by sparse matrices are sparse."""
    _check_mm(a, b)
    return product(a, b)


def _check_mm(a: Tensor, b: Tensor) -> None:
    _like_strided("mm", a, b)
    both = is_sparse(a) and is_sparse(b)
    _refuse_unknown(a if both else hotaru.empty(0), a, b)


@answers("mv", of=CSX)
def mv(a: Tensor, v: Tensor) -> Tensor:
    """A matrix times a vector; strided."""
    _check_vector(a, v)
    return whole(a, v.unsqueeze(1)).squeeze(1)


def _check_vector(a: Tensor, v: Tensor) -> None:
    if a.dim() != 2 or v.dim() != 1:
        _like_strided("mv", a, v)
    rows, columns = a.shape
    if columns != v.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec "
            f"({v.shape[0]})"
        )


@answers("addmv", of=CSX)
def addmv(c, a, v, *, beta=1, alpha=1) -> Tensor:
    """Beta * c + alpha * (a @ v); strided."""
    _check_vector(a, v)
    return _plus(c, mv(a, v), beta, alpha)


def _plus(c: Tensor, made: Tensor, beta, alpha) -> Tensor:
    made = made if alpha == 1 else made * alpha
    if beta == 0:
        return made
    return made + (c if beta == 1 else c * beta)


@answers("addmm", "sspaddmm", of=CSX)
def addmm(c, a, b, beta=1, alpha=1) -> Tensor:
    """Beta * c + alpha * (a @ b): strided if `c` is, else as `c`."""
    return _addmm(whole, c, a, b, beta, alpha)


@answers("_sparse_addmm", of=CSX)
def sparse_addmm(c, a, b, beta=1, alpha=1) -> Tensor:
    """The same whose derivatives by sparse matrices are sparse."""
    return _addmm(product, c, a, b, beta, alpha)


def _addmm(strided, c, a, b, beta, alpha) -> Tensor:
    _like_strided("addmm", c, a, b)
    _refuse_unknown(c, a, b)
    if not is_sparse(c):
        if is_sparse(a) and is_sparse(b):
            made = product(a, b).to_dense()
        else:
            made = strided(a, b)
        made = _plus(c, made, beta, alpha)
        return made.expand(a.shape[0], b.shape[1])
    if not (is_sparse(a) and is_sparse(b)):
        raise _no_code(c, a, b)
    return _plus(c, product(a, b, c.layout), beta, alpha)


@answers("bmm", of=CSX)
def bmm(a: Tensor, b: Tensor) -> Tensor:
    """Products of batches of matrices, one of them compressed; strided."""
    _like_strided("bmm", a, b)
    return _batched(a, b)


def _batched(a: Tensor, b: Tensor) -> Tensor:
    if is_sparse(a) and is_sparse(b):
        raise NotImplementedError(
            "Could not run 'aten::bmm' with arguments from the 'SparseCsrCPU' "
            "backend: of batches, one factor has to be strided; call "
            "to_dense() on the other"
        )
    return sparse_dense(a, b) if is_sparse(a) else dense_sparse(a, b)


@answers("baddbmm", of=CSX)
def baddbmm(c, a, b, *, beta=1, alpha=1) -> Tensor:
    """Beta * c + alpha * bmm(a, b); strided."""
    if is_sparse(c):
        raise NotImplementedError(
            "Could not run 'aten::baddbmm' with arguments from the "
            "'SparseCsrCPU' backend: what is added has to be strided"
        )
    _like_strided("baddbmm", c, a, b)
    return _plus(c, _batched(a, b), beta, alpha)


@answers("matmul", of=CSX)
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Products of vectors, matrices and batches of them."""
    if a.dim() == 2 and b.dim() == 1:
        return mv(a, b)
    if a.dim() == 1 and b.dim() == 2:
        return mv(b.transpose(0, 1), a)
    if a.dim() == 2 and b.dim() == 2:
        return mm(a, b)
    _like_strided("matmul", a, b)
    lead = hotaru.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if is_sparse(a) and a.dim() == 2 and not is_sparse(b):
        return sparse_dense(a, b)
    if is_sparse(b) and b.dim() == 2 and not is_sparse(a):
        return dense_sparse(a, b)
    strided = b if is_sparse(a) else a
    if not is_sparse(strided):
        strided = strided.expand(*lead, *strided.shape[-2:])
    return _batched(a, strided) if is_sparse(a) else _batched(strided, b)


@answers("__rmatmul__", of=CSX)
def rmatmul(b: Tensor, a: Tensor) -> Tensor:
    """Matmul with the factors exchanged."""
    return matmul(a, b)


@answers("linear", of=CSX)
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The product with the transposed weight, plus the bias."""
    made = matmul(x, weight.transpose(-2, -1))
    return made if bias is None else made + bias


def sampled_addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None) -> Tensor:
    """Beta * input + alpha * (mat1 @ mat2) where `input`, in `sparse_csr`, has
    elements; nothing else of the product is made.

    Args:
        mat1: (batch..., n, k), strided.
        mat2: (batch..., k, m), strided.
    """
    _check_sampled(input, mat1, mat2)
    from . import sampled as compressed_sampled

    made = compressed_sampled.sampled(input, mat1, mat2, beta, alpha)
    if out is None:
        return made
    from ..inplace import assign

    return assign(out, made)


def _check_sampled(c: Tensor, a: Tensor, b: Tensor) -> None:
    what = "sampled_addmm: Expected "
    if c.layout is not _C.sparse_csr:
        raise RuntimeError(
            f"sampled_addmm: Expected self to have sparse csr layout, but got "
            f"{layout_text(c.layout)}"
        )
    for name, x in (("mat1", a), ("mat2", b)):
        if x.layout is not _C.strided:
            raise RuntimeError(
                f"{what}{name} to have strided layout, but got {layout_text(x.layout)}"
            )
        if x.dtype != c.dtype:
            raise RuntimeError(f"{what}{name} and self to have the same dtype")
    if a.dim() < 2 or b.dim() < 2:
        raise RuntimeError(f"{what}mat1 and mat2 to be matrices or batches")
    if a.shape[:-2] != b.shape[:-2]:
        raise RuntimeError(
            f"{what}mat1 and mat2 to have the same batch size, but got "
            f"{list(a.shape[:-2])} and {list(b.shape[:-2])}"
        )
    check_product(a, b)
    for i, x, name in ((-2, a, "mat1"), (-1, b, "mat2")):
        if c.shape[i] != x.shape[i]:
            raise RuntimeError(
                f"sampled_addmm: self.shape[{i}] and {name}.shape[{i}] must match."
            )
