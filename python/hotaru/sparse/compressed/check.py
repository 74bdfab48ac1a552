"""Conditions that the parts of a compressed tensor have to fulfil."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._C import Tensor
from ..._tensor.sparse_names import layout_name
from .. import compressed
from ..tensor import BLOCKED, BY_ROWS, COMPRESSED

_DTYPE_NAMES = {
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "bfloat16": "BFloat16",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def layout_text(layout) -> str:
    """The name of any layout in errors: SparseCsr, Sparse, Strided, none."""
    if layout is None:
        return "none"
    if layout is _C.strided:
        return "Strided"
    return layout_name(layout)


def require_compressed(layout, what: str) -> None:
    """RuntimeError unless it is one of the four layouts."""
    if layout not in COMPRESSED:
        raise RuntimeError(
            f"{what} expected sparse compressed tensor layout but got "
            f"{layout_text(layout)}"
        )


def names_of(layout) -> tuple[str, str]:
    """Names of the two kinds of indices of a layout."""
    if layout in BY_ROWS:
        return "crow_indices", "col_indices"
    return "ccol_indices", "row_indices"


def check(
    index: Tensor, inner: Tensor, values: Tensor, size, layout, ordered=True
) -> None:
    """RuntimeError where the parts do not make a tensor of that size.

    `ordered` as in `check_indices`.
    """
    size = tuple(size)
    _check_kinds(index, inner, values, layout)
    _check_dims(index, inner, values, len(size), layout)
    block = _check_shapes(index, inner, values, size, layout)
    _check_dtypes(index, inner, layout)
    batch = index.dim() - 1
    grid = [size[batch + i] // max(block[i], 1) for i in range(2)]
    outer, extent = grid if layout in BY_ROWS else grid[::-1]
    check_indices(
        layout in BY_ROWS, index, inner, outer, extent, values.shape[batch], ordered
    )


def _check_kinds(index, inner, values, layout) -> None:
    outer_name, inner_name = names_of(layout)
    for name, part in ((outer_name, index), (inner_name, inner), ("values", values)):
        if part.layout is not _C.strided:
            raise RuntimeError(
                f"expected {name} to be a strided tensor but got "
                f"{layout_text(part.layout)} tensor"
            )
    for name, part in ((outer_name, index), (inner_name, inner)):
        if part.dim() and part.shape[-1] > 1 and part.stride(-1) != 1:
            raise RuntimeError(f"expected {name} to be a contiguous tensor per batch")


def dims_of(index, inner, values, layout) -> tuple[int, int, int]:
    """How many are of batches, blocks and elements; RuntimeError for parts
    that do not fit.
    """
    outer_name, inner_name = names_of(layout)
    if index.dim() < 1:
        raise RuntimeError(
            f"{outer_name} must have dimensionality >= 1 but got {index.dim()}"
        )
    if index.dim() != inner.dim():
        raise RuntimeError(
            f"{outer_name} and {inner_name} dimensionalities must be equal "
            f"but got {index.dim()} and {inner.dim()}, respectively"
        )
    batch, blocks = index.dim() - 1, 2 if layout in BLOCKED else 0
    dense = values.dim() - batch - blocks - 1
    if dense < 0:
        raise RuntimeError(
            "values must have dimensionality > sum of batch and block "
            f"dimensionalities (={batch} + {blocks}) but got {values.dim()}"
        )
    return batch, blocks, dense


def _check_dims(index, inner, values, dims: int, layout) -> None:
    batch, _, dense = dims_of(index, inner, values, layout)
    if dims != batch + 2 + dense:
        raise RuntimeError(
            "tensor dimensionality must be sum of batch, base, and dense "
            f"dimensionalities (={batch} + 2 + {dense}) but got {dims}"
        )


def _check_shapes(index, inner, values, size, layout) -> tuple[int, int]:
    outer_name, inner_name = names_of(layout)
    batch = index.dim() - 1
    leads = [list(x.shape[:batch]) for x in (index, inner, values)]
    if any(lead != list(size[:batch]) for lead in leads):
        raise RuntimeError(
            f"all batch dimensions of {outer_name} (={leads[0]}), {inner_name}"
            f" (={leads[1]}), and values (={leads[2]}) must be equal to tensor "
            f"batch dimensions (={list(size[:batch])})"
        )
    block = (1, 1)
    if layout in BLOCKED:
        block = tuple(values.shape[batch + 1 : batch + 3])
        for i in range(2):
            if block[i] and size[batch + i] % block[i]:
                raise RuntimeError(
                    f"tensor shape[{batch + i}] (={size[batch + i]}) must be "
                    f"divisible with blocksize[{i}] (={block[i]}) as defined "
                    "by values shape"
                )
    outer = 0 if layout in BY_ROWS else 1
    count = size[batch + outer] // max(block[outer], 1)
    if index.shape[-1] != count + 1:
        kind = ("row", "column")[outer]
        kind += " blocks" if layout in BLOCKED else "s"
        raise RuntimeError(
            f"{outer_name}.shape[-1] must be equal to the number of {kind} + 1"
            f" (={count + 1}), but got {index.shape[-1]}"
        )
    nnz = values.shape[batch]
    if inner.shape[-1] != nnz:
        raise RuntimeError(
            f"{inner_name}.shape[-1] must be equal to nnz (={nnz}) as defined "
            f"by values.shape[{batch}], but got {inner.shape[-1]}"
        )
    return block


def _check_dtypes(index: Tensor, inner: Tensor, layout) -> None:
    outer_name, inner_name = names_of(layout)
    own, other = (_dtype_name(x.dtype) for x in (index, inner))
    if own != other:
        raise RuntimeError(
            f"{outer_name} and {inner_name} must have the same dtype, bot got "
            f"{own} and {other}, respectively"
        )
    if index.dtype not in (hotaru.int32, hotaru.int64):
        raise RuntimeError(
            f"{outer_name} and {inner_name} dtype must be Int or Long, but got {own}"
        )


def _dtype_name(dtype) -> str:
    name = str(dtype).partition(".")[2]
    return _DTYPE_NAMES.get(name, name)


def check_indices(
    is_crow: bool,
    index: Tensor,
    inner: Tensor,
    cdim: int,
    dim: int,
    nnz: int,
    ordered: bool = True,
) -> None:
    """RuntimeError where offsets do not go from 0 to `nnz` in steps of 0 to
    `dim`, or where indices are outside of [0, dim), not sorted or repeated.

    Args:
        is_crow: whether rows are compressed; for the texts alone.
        index: (batch..., cdim + 1), where rows (columns) begin.
        inner: (batch..., nnz), the columns (rows).
        ordered: False to let those of a row stand in any order: no memory
            outside is reached by such.
    """
    if index.numel() == 0:
        return
    own, other = names_of(_C.sparse_csr if is_crow else _C.sparse_csc)
    rows, columns = ("nrows", "ncols") if is_crow else ("ncols", "nrows")
    _demand((index[..., 0] == 0).all(), f"`{own}[..., 0] == 0`")
    _demand((index[..., -1] == nnz).all(), f"`{own}[..., -1] == nnz`")
    steps = index[..., 1:] - index[..., :-1]
    _demand(
        ((steps >= 0) & (steps <= dim)).all(),
        f"`0 <= {own}[..., 1:] - {own}[..., :-1] <= {columns}`",
    )
    _demand(((inner >= 0) & (inner < dim)).all(), f"`0 <= {other} < {columns}`")
    if ordered and nnz > 1:
        rising = (inner[..., 1:] > inner[..., :-1]).reshape(-1, nnz - 1)
        owner = compressed.owners_of(index, nnz)
        same = owner[:, 1:] == owner[:, :-1]
        _demand(
            (rising | ~same).all(),
            f"`{other}[..., {own}[..., i - 1]:{own}[..., i]] for all i = 1, "
            f"..., {rows} are sorted and distinct along the last dimension "
            "values`",
        )


def _demand(fulfilled: Tensor, what: str) -> None:
    if not bool(fulfilled):
        raise RuntimeError(f"{what} is not satisfied.")
