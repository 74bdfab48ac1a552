"""Matrix products with tensors in coordinates."""

from __future__ import annotations

import hotaru

from ..._answering.table import answers
from ..._C import Tensor
from ..._extension.dtypes import scalar_type
from .. import coo, inplace
from .._kind import COO
from ..checks import check_product
from ..history import bilinear
from ..tensor import SparseTensor, is_sparse, parts_of, values_of, with_values

_MOST_AT_ONCE = 1 << 22


def _rows_sum(
    values, rows, columns, dense: Tensor, count: int, ordered: bool
) -> Tensor:
    """(count, k): the sum of values[i] * dense[columns[i]] by rows[i].

    Half precision is added up in single. `ordered` rows are bags of
    embeddings, whose kernels need no memory; of others, a part of the k
    columns is summed at a time, that memory stays bounded.
    """
    if values.dtype in (hotaru.float16, hotaru.bfloat16):
        whole = _rows_sum(values.float(), rows, columns, dense.float(), count, ordered)
        return whole.to(values.dtype)
    if ordered and dense.dtype in (hotaru.float32, hotaru.float64):
        begins = hotaru.searchsorted(
            rows.contiguous(), hotaru.arange(count, device=rows.device)
        )
        return hotaru.nn.functional.embedding_bag(
            columns.contiguous(),
            dense,
            begins,
            mode="sum",
            per_sample_weights=values.contiguous(),
        )
    step = max(_MOST_AT_ONCE // max(values.shape[0], 1), 1)
    parts = [
        coo.summed(values.unsqueeze(1) * part[columns], rows, count)
        for part in dense.split(step, 1)
    ]
    return parts[0] if len(parts) == 1 else hotaru.cat(parts, 1)


def sparse_dense(a: SparseTensor, b: Tensor) -> Tensor:
    """(n, m) in coordinates by (m, k) strided -> (n, k) strided; the
    derivative by `a` is strided.
    """
    return bilinear(at_elements, _back, a, b)


def _back(grad: Tensor, a: SparseTensor, b: Tensor, need) -> tuple:
    return (
        grad @ b.t().conj() if need[0] else None,
        at_elements(a.t().conj(), grad) if need[1] else None,
    )


def at_elements(a: SparseTensor, b: Tensor) -> Tensor:
    """The same with a derivative by `a` that is sparse, at its elements."""
    indices, values = parts_of(a).index, values_of(a)
    if not b.shape[1]:
        return b.new_zeros((a.shape[0], 0))
    ordered = _in_order(a, b)
    return _rows_sum(values, indices[0], indices[1], b, a.shape[0], ordered)


def _in_order(a: SparseTensor, b: Tensor) -> bool:
    same = a.dtype == b.dtype
    return same and a._nnz() > 0 and b.numel() > 0 and a.is_coalesced()


def dense_sparse(a: Tensor, b: SparseTensor) -> Tensor:
    """(n, m) strided by (m, k) in coordinates -> (n, k) strided."""
    return sparse_dense(b.t(), a.t()).t()


def _check_indices(tensor: Tensor) -> None:
    """Every dimension of a factor has indices."""
    if is_sparse(tensor) and tensor.dense_dim():
        raise RuntimeError(
            f"addmm: matrices expected, got {tensor.sparse_dim()}D tensor"
        )


def _check_shapes(a: Tensor, b: Tensor) -> None:
    for which, tensor in (("mat1", a), ("mat2", b)):
        _check_indices(tensor)
        if tensor.dim() != 2:
            raise RuntimeError(f"{which} must be a matrix, got {tensor.dim()}-D tensor")
    check_product(a, b)


def sparse_sparse(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """(n, m) by (m, k), both in coordinates -> (n, k), coalesced."""
    _check_shapes(a, b)
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"mat1 dtype {scalar_type(a.dtype)} does not match mat2 dtype "
            f"{scalar_type(b.dtype)}"
        )
    a, b = coo.coalesce(a), coo.coalesce(b)
    left, right = parts_of(a).index, parts_of(b).index
    asked, place = coo.matches(right[0].contiguous(), left[1])
    values = values_of(a)[asked] * values_of(b)[place]
    indices = hotaru.stack([left[0][asked], right[1][place]])
    size = (a.shape[0], b.shape[1])
    found = coo.make(indices, values, size)
    return coo.coalesce(found)


@answers("mm", of=COO)
def mm(a: Tensor, b: Tensor) -> Tensor:
    """The product of two matrices: sparse if both are."""
    return _product(a, b, sparse_dense)


def _product(a: Tensor, b: Tensor, with_strided) -> Tensor:
    if is_sparse(a) and is_sparse(b):
        return sparse_sparse(a, b)
    if not is_sparse(a):
        _check_shapes(a, b)
        return dense_sparse(a, b)
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {a.shape[1]}, "
            f"got {b.shape[0]}"
        )
    _check_shapes(a, b)
    return with_strided(a, b)


@answers("_sparse_mm", of=COO)
def _sparse_mm(a: Tensor, b: Tensor) -> Tensor:
    """`mm` whose derivative by a sparse matrix is at its elements."""
    return _product(a, b, at_elements)


@answers("mv", of=COO)
def mv(a: Tensor, b: Tensor) -> Tensor:
    """(n, m) by (m,) -> (n,)."""
    if a.dim() != 2 or b.dim() != 1:
        raise RuntimeError(
            f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: "
            f"{a.dim()} Tensor Dim: {b.dim()}"
        )
    if a.shape[1] != b.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    _check_indices(a)
    return sparse_dense(a, b.unsqueeze(1)).squeeze(1)


@answers("matmul", of=COO)
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """The product of matrices, batches of them, or a matrix and a vector."""
    if a.dim() == 2 and b.dim() == 1:
        return mv(a, b)
    if a.dim() == 1 and b.dim() == 2:
        return mv(b.t(), a)
    if a.dim() == 3 and b.dim() == 3:
        return bmm(a, b)
    return mm(a, b)


@answers("__rmatmul__", of=COO)
def _matmul_from_right(b: Tensor, a: Tensor) -> Tensor:
    return matmul(a, b)


@answers("bmm", of=COO)
def bmm(a: Tensor, b: Tensor) -> Tensor:
    """(batch, n, m) in coordinates by (batch, m, k) strided."""
    if is_sparse(b):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense")
    if a.dense_dim():
        raise RuntimeError(
            f"bmm_sparse: Tensor 'self' must have 0 dense dims, but has {a.dense_dim()}"
        )
    if a.shape[0] != b.shape[0]:
        raise RuntimeError("bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match")
    if a.shape[2] != b.shape[1]:
        raise RuntimeError("bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match")
    if not b.shape[2]:
        return b.new_zeros((a.shape[0], a.shape[1], 0))
    return bilinear(_batches, _back_batches, a, b)


def _back_batches(grad: Tensor, a: SparseTensor, b: Tensor, need) -> tuple:
    return (
        grad @ b.transpose(1, 2).conj() if need[0] else None,
        _batches(a.transpose(1, 2).conj(), grad) if need[1] else None,
    )


def _batches(a: SparseTensor, b: Tensor) -> Tensor:
    batch, row, column = parts_of(a).index
    found = _rows_sum(
        values_of(a),
        batch * a.shape[1] + row,
        batch * a.shape[2] + column,
        b.reshape(-1, b.shape[2]),
        a.shape[0] * a.shape[1],
        _in_order(a, b),
    )
    return found.reshape(a.shape[0], a.shape[1], b.shape[2])


@answers("addmm", of=COO)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1) -> Tensor:
    """Beta * input + alpha * (mat1 @ mat2), of which mat1 is sparse."""
    return _added(input, mat1, mat2, beta, alpha, mm)


@answers("_sparse_addmm", of=COO)
def _sparse_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1
) -> Tensor:
    """`addmm` whose derivative by `mat1` is at its elements."""
    return _added(input, mat1, mat2, beta, alpha, _sparse_mm)


def _added(input: Tensor, mat1, mat2, beta, alpha, product_of) -> Tensor:
    if is_sparse(input):
        raise RuntimeError(
            "addmm_sparse_dense: expected strided result tensor, got tensor "
            "with layout Sparse"
        )
    if not is_sparse(mat1) or is_sparse(mat2):
        kinds = ["Sparse" if is_sparse(m) else "Strided" for m in (mat1, mat2)]
        raise RuntimeError(
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout "
            "and 'mat2' to have strided layout, got 'mat1' with layout "
            f"{kinds[0]} and 'mat2' with layout {kinds[1]}"
        )
    product = product_of(mat1, mat2)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return (input if beta == 1 else input * beta) + product


def _matrix(tensor: Tensor, name: str) -> None:
    if not is_sparse(tensor) or not tensor.is_sparse:
        raise RuntimeError(f"{name}: expected a tensor in coordinates")


@answers("hspmm", "hsmm", of=COO)
def hspmm(mat1: Tensor, mat2: Tensor, *, out=None) -> SparseTensor:
    """mat1 @ mat2 with one dimension that has indices, the rows of `mat1`
    with elements, and one that has not.
    """
    _matrix(mat1, "hspmm")
    _check_shapes(mat1, mat2)
    indices, values = parts_of(mat1).index, values_of(mat1)
    rows, group = indices[0].unique(return_inverse=True)
    product = (
        _rows_sum(values, group, indices[1], mat2, rows.shape[0], _in_order(mat1, mat2))
        if mat2.shape[1]
        else mat2.new_zeros((rows.shape[0], 0))
    )
    size = (mat1.shape[0], mat2.shape[1])
    return _given(out, coo.make(rows.unsqueeze(0), product, size, True))


@answers("sspaddmm", "saddmm", of=COO)
def sspaddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta=1, alpha=1, out=None
) -> SparseTensor:
    """Beta * input + alpha * (mat1 @ mat2), sparse: `input` and `mat1` are."""
    _matrix(input, "sspaddmm")
    _matrix(mat1, "sspaddmm")
    _check_shapes(mat1, mat2)
    thin = hspmm(mat1, mat2)
    rows, values = parts_of(thin).index[0], values_of(thin)
    width = mat2.shape[1]
    columns = hotaru.arange(width, device=values.device)
    indices = hotaru.stack(
        [rows.repeat_interleave(width), columns.repeat(rows.shape[0])]
    )
    product = coo.make(indices, values.reshape(-1) * alpha, thin.shape, True)
    scaled = with_values(input, values_of(input) * beta)
    return _given(out, coo.coalesce(coo.coalesce(scaled) + product))


saddmm = sspaddmm


@answers("smm", of=COO)
def smm(mat1: Tensor, mat2: Tensor) -> SparseTensor:
    """mat1 @ mat2, sparse: of a sparse and a strided matrix."""
    size = (mat1.shape[0], mat2.shape[1])
    none = coo.empty(size, 2, dtype=mat1.dtype, device=mat1.device)
    return sspaddmm(none, mat1, mat2)


def spmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """`torch.mm`, by the name it has for sparse matrices."""
    return hotaru.mm(mat1, mat2)


dsmm = spmm
hsmm = hspmm


def _given(out, result: SparseTensor) -> SparseTensor:
    return result if out is None else inplace.assign(out, result)
