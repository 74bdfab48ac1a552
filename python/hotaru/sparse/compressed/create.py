"""Making compressed tensors: of their parts, empty, and like others."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from .. import compressed, coo, invariants
from .._kind import CSX
from ..tensor import BLOCKED, BY_ROWS, Parts, SparseTensor, build, is_sparse, parts_of
from . import check as compressed_check
from .check import check_indices, layout_text, require_compressed


def _index(data, device) -> Tensor:
    if isinstance(data, Tensor):
        return data if device is None else data.to(device)
    made = hotaru.tensor(data, device=device)
    return made if made.numel() else made.long()


def _values(data, dtype, device) -> Tensor:
    if isinstance(data, Tensor):
        return data.to(dtype=dtype or data.dtype, device=device or data.device)
    return hotaru.tensor(data, dtype=dtype, device=device)


def _estimated(index: Tensor, inner: Tensor, values: Tensor, layout) -> tuple:
    """The smallest size that holds all indices."""
    batch, blocks, _ = compressed_check.dims_of(index, inner, values, layout)
    block = tuple(values.shape[batch + 1 : batch + 1 + blocks]) or (1, 1)
    outer = index.shape[-1] - 1
    extent = int(inner.max()) + 1 if inner.numel() else 0
    grid = (outer, extent) if layout in BY_ROWS else (extent, outer)
    return (
        *index.shape[:batch],
        grid[0] * block[0],
        grid[1] * block[1],
        *values.shape[batch + 1 + blocks :],
    )


def sparse_compressed_tensor(
    compressed_indices,
    plain_indices,
    values,
    size=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    check_invariants=None,
) -> Tensor:
    """A tensor in one of the compressed layouts, which has to be named.

    Args:
        compressed_indices: (batch..., rows + 1) integers: where the elements
            of each row (of columns for `sparse_csc` and `sparse_bsc`) begin.
        plain_indices: (batch..., nnz), the columns (rows) of the elements.
        values: (batch..., nnz, dense...), with the sizes of a block behind
            nnz for `sparse_bsr` and `sparse_bsc`.
        size: the shape; by default the smallest that holds all indices.
        check_invariants: whether the indices are checked; by default what
            `torch.sparse.check_sparse_tensor_invariants` says.
    """
    require_compressed(layout, "sparse_compressed_tensor")
    values = _values(values, dtype, device)
    if device is None and values.device.type != "cpu":
        device = values.device
    index, inner = (_index(x, device) for x in (compressed_indices, plain_indices))
    if size is None:
        size = _estimated(index, inner, values, layout)
    if invariants.wanted(check_invariants):
        compressed_check.check(index, inner, values, size, layout)
    else:
        invariants.check_numel(size)
    made = build(Parts(layout, index, inner, values), size)
    return made.detach().requires_grad_() if requires_grad else made


def _of_layout(short: str, rows: bool):
    layout = getattr(_C, "sparse_" + short)
    name = f"sparse_{short}_tensor"
    own, other = compressed_check.names_of(layout)

    def make(outer, inner, values, size, options) -> Tensor:
        given = options.pop("layout", None)
        if given is not None and given is not layout:
            raise RuntimeError(
                f"{name}: layout must be {layout_text(layout)} but got "
                f"{layout_text(given)}"
            )
        return sparse_compressed_tensor(
            outer, inner, values, size, layout=layout, **options
        )

    if rows:

        def function(crow_indices, col_indices, values, size=None, **options):
            return make(crow_indices, col_indices, values, size, options)

    else:

        def function(ccol_indices, row_indices, values, size=None, **options):
            return make(ccol_indices, row_indices, values, size, options)

    def validate(outer, inner, values, size) -> None:
        compressed_check.check(outer, inner, values, size, layout)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"A tensor in the layout `{layout}`: `sparse_compressed_tensor` of "
        f"{own}, {other}, values and size."
    )
    validate.__name__ = f"_validate_{name}_args"
    validate.__doc__ = f"RuntimeError where `{name}` would check and refuse."
    return function, validate


sparse_csr_tensor, _validate_sparse_csr_tensor_args = _of_layout("csr", True)
sparse_csc_tensor, _validate_sparse_csc_tensor_args = _of_layout("csc", False)
sparse_bsr_tensor, _validate_sparse_bsr_tensor_args = _of_layout("bsr", True)
sparse_bsc_tensor, _validate_sparse_bsc_tensor_args = _of_layout("bsc", False)


@answers("_validate_sparse_compressed_tensor_args", of=CSX)
def _validate_sparse_compressed_tensor_args(
    compressed_indices, plain_indices, values, size, layout
) -> None:
    """RuntimeError where the parts do not make a tensor of that size."""
    require_compressed(layout, "validate_sparse_compressed_tensor_args")
    compressed_check.check(compressed_indices, plain_indices, values, size, layout)


def _validate_compressed_sparse_indices(
    is_crow, compressed_idx, plain_idx, cdim, dim, nnz
) -> None:
    """RuntimeError where the indices of a compressed tensor are wrong."""
    check_indices(is_crow, compressed_idx, plain_idx, cdim, dim, nnz)


def hollow(size, layout, block=(), dense=0, nnz=0, **kinds) -> SparseTensor:
    """A tensor of `nnz` elements (blocks) in each batch, all index parts 0.

    Args:
        block: rows and columns of a block, for the blocked layouts.
        dense: how many trailing dimensions are strided.
        kinds: `dtype`, `device` and `index_dtype` (int64 by default).
    """
    index_dtype = kinds.pop("index_dtype", None) or hotaru.int64
    batch = len(size) - 2 - dense
    lead, rest = size[:batch], size[batch + 2 :]
    grid = [size[batch + i] // (block or (1, 1))[i] for i in range(2)]
    outer = grid[0 if layout in BY_ROWS else 1]
    integers = {"dtype": index_dtype, "device": kinds.get("device")}
    parts = Parts(
        layout,
        hotaru.zeros((*lead, outer + 1), **integers),
        hotaru.zeros((*lead, nnz), **integers),
        hotaru.zeros((*lead, nnz, *block, *rest), **kinds),
    )
    return build(parts, size)


def _empty(name: str):
    def make(*size, layout=None, dtype=None, device=None, **options) -> Tensor:
        size = options.pop("size", size)
        if len(size) == 1 and not isinstance(size[0], int):
            size = size[0]
        size = tuple(size)
        if len(size) < 2:
            raise RuntimeError(
                f"torch.{name}: Only batched sparse compressed (non-block) "
                f"tensors are supported, but got size {list(size)}"
            )
        if layout in BLOCKED:
            raise RuntimeError(
                f"{name}_sparse_compressed expected sparse compressed "
                f"(non-block) tensor layout but got {layout_text(layout)}"
            )
        made = hollow(size, layout, dtype=dtype, device=device)
        return made.requires_grad_(bool(options.get("requires_grad")))

    make.__name__ = name
    return answers(name, of=CSX)(make)


def _refuse_blocks(layout) -> None:
    if layout in BLOCKED:
        raise RuntimeError(
            "sparse_compressed_tensor_with_dims: blocksize needs to be a "
            "tuple of size 2, but got 0"
        )


for _name in ("empty", "zeros"):
    _empty(_name)


def _sparse_compressed_tensor_with_dims(
    nnz,
    dense_dim,
    size,
    blocksize,
    index_dtype,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
) -> Tensor:
    """A tensor of those sizes whose indices and values are to be written."""
    what = "sparse_compressed_tensor_with_dims"
    require_compressed(layout, what)
    wanted = 2 if layout in BLOCKED else 0
    if len(blocksize) != wanted:
        raise RuntimeError(
            f"{what}: blocksize needs to be a tuple of size {wanted}, but got "
            f"{len(blocksize)}"
        )
    return hollow(
        tuple(size),
        layout,
        tuple(blocksize),
        dense_dim,
        nnz,
        dtype=dtype,
        device=device,
        index_dtype=index_dtype,
    )


def _like(tensor: Tensor, values: Tensor, requires_grad=False) -> Tensor:
    parts = parts_of(tensor)
    made = build(
        Parts(parts.layout, parts.index.clone(), parts.inner.clone(), values),
        tensor.shape,
    )
    return made.requires_grad_(requires_grad)


def _own_layout(tensor: Tensor, layout) -> None:
    if layout is not None and layout is not tensor.layout:
        raise RuntimeError(
            "empty_like with different sparse layout is not supported (self is"
            f" {layout_text(tensor.layout)} but you requested "
            f"{layout_text(layout)})"
        )


def _values_like(name: str):
    def make(
        tensor,
        *args,
        dtype=None,
        layout=None,
        device=None,
        requires_grad=False,
        memory_format=None,
        **options,
    ) -> Tensor:
        if not is_sparse(tensor):
            raise NotImplementedError(
                "Could not run 'aten::empty_strided' with arguments from the "
                f"'SparseCsrCPU' backend: {name} takes no strided tensor for "
                "a compressed layout, whose indices are not known."
            )
        _own_layout(tensor, layout)
        values = parts_of(tensor).values
        made = getattr(hotaru, name)(
            values, *args, dtype=dtype, device=device, **options
        )
        return _like(tensor, made, requires_grad)

    make.__name__ = name
    return answers(name, of=CSX)(make)


for _name in ("empty_like", "ones_like", "randn_like", "full_like"):
    _values_like(_name)


@answers("zeros_like", of=CSX)
def zeros_like(
    tensor,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    memory_format=None,
) -> Tensor:
    """A tensor of the same size without elements."""
    layout = tensor.layout if layout is None else layout
    if layout is _C.strided:
        _own_layout(tensor, layout)
    dtype, device = dtype or tensor.dtype, device or tensor.device
    if layout is _C.sparse_coo:
        dense = compressed.dense_dims(tensor)
        made = coo.empty(tensor.shape, tensor.dim() - dense, dtype=dtype, device=device)
        return made.requires_grad_(requires_grad)
    size, kinds = tuple(tensor.shape), {"dtype": dtype, "device": device}
    if is_sparse(tensor) and not tensor.is_sparse:
        block = compressed.block_size(tensor) or ()
        if layout in BLOCKED and not block:
            _refuse_blocks(layout)
        made = hollow(
            size,
            layout,
            block if layout in BLOCKED else (),
            compressed.dense_dims(tensor),
            index_dtype=parts_of(tensor).index.dtype,
            **kinds,
        )
    else:
        _refuse_blocks(layout)
        made = hollow(size, layout, **kinds)
    return made.requires_grad_(requires_grad)


@answers("new_empty", "new_zeros", of=CSX)
def new_zeros(
    tensor, *size, dtype=None, layout=None, device=None, requires_grad=False
) -> Tensor:
    """A tensor of another size, of the same layout and dtype, without
    elements.
    """
    return hotaru.zeros(
        *size,
        dtype=dtype or tensor.dtype,
        device=device or tensor.device,
        layout=layout or tensor.layout,
        requires_grad=requires_grad,
    )
