"""Sparse tensors of a size: empty ones, and others shaped as one."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._answering.table import answers
from ..._C import Tensor
from ..._tensor.refusals import check_written
from .. import coo, inplace
from .._kind import COO, unknown
from ..checks import check_sparse_dims
from ..tensor import SparseTensor, is_sparse, parts_of


def _sizes(args: tuple, size) -> tuple[int, ...]:
    if size is None:
        size = args
        if len(args) == 1 and not isinstance(args[0], int):
            size = args[0]
    return tuple(size)


@answers("zeros", "empty", of=COO, takes_out=True)
def zeros(
    *args,
    size=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    memory_format=None,
    names=None,
) -> Tensor:
    """Without elements, all dimensions with indices."""
    if dtype is None and out is not None:
        dtype = out.dtype
    made = empty_of(_sizes(args, size), dtype, device)
    if out is not None:
        if not is_sparse(out):
            raise RuntimeError(
                "layout Sparse does not match layout of out parameter (Strided)"
            )
        made = inplace.replace(out.detach_(), made)
    return made.requires_grad_() if requires_grad else made


def empty_of(size, dtype, device) -> SparseTensor:
    """All dimensions of `size` with indices, no elements."""
    from .create import sparse_coo_tensor

    return sparse_coo_tensor(size, dtype=dtype, device=device)


def _like(name: str):
    def like(
        tensor: Tensor,
        *args,
        dtype=None,
        layout=None,
        device=None,
        pin_memory=False,
        requires_grad=False,
        memory_format=None,
        **options,
    ) -> Tensor:
        layout = tensor.layout if layout is None else layout
        options |= {
            "dtype": tensor.dtype if dtype is None else dtype,
            "device": tensor.device if device is None else device,
            "requires_grad": requires_grad,
        }
        if layout is _C.strided:
            base = name.removesuffix("_like")
            return getattr(hotaru, base)(tuple(tensor.shape), *args, **options)
        if memory_format is not None:
            raise RuntimeError(
                "memory format option is only supported by strided tensors"
            )
        if name not in ("zeros_like", "empty_like"):
            raise unknown(_FILLS[name], (tensor,), {})
        if name == "empty_like" and not is_sparse(tensor):
            raise unknown("empty_strided", (layout,), {})
        if layout is not _C.sparse_coo:
            return getattr(hotaru, base_of(name))(
                tuple(tensor.shape), layout=layout, **options
            )
        dims = coo.sparse_dims(tensor) if is_sparse(tensor) else tensor.dim()
        wanted = options.pop("requires_grad")
        made = coo.empty(tensor.shape, dims, **options)
        return made.requires_grad_() if wanted else made

    return answers(name, of=COO)(like)


def base_of(name: str) -> str:
    """Zeros of zeros_like."""
    return name.removesuffix("_like")


_FILLS = {
    "ones_like": "fill_.Scalar",
    "full_like": "fill_.Scalar",
    "rand_like": "uniform_",
    "randn_like": "normal_",
    "randint_like": "random_.from",
}
for _name in ("zeros_like", "empty_like", *_FILLS):
    _like(_name)


@answers("ones", "full", of=COO)
def _filled(*args, **options):
    raise RuntimeError("full(...) is not implemented for sparse layout")


@answers("new_zeros", "new_empty", of=COO)
def new_zeros(
    tensor: Tensor,
    *args,
    size=None,
    dtype=None,
    device=None,
    layout=None,
    pin_memory=False,
    requires_grad=False,
) -> Tensor:
    """Without elements, of a size, by default of the own dtype and device."""
    made = hotaru.zeros(
        _sizes(args, size),
        dtype=tensor.dtype if dtype is None else dtype,
        device=tensor.device if device is None else device,
        layout=tensor.layout if layout is None else layout,
    )
    return made.requires_grad_() if requires_grad else made


@answers("new_tensor", of=COO)
def new_tensor(tensor: Tensor, data, *, dtype=None, device=None, **options):
    """Strided, of data."""
    return hotaru.tensor(
        data,
        dtype=tensor.dtype if dtype is None else dtype,
        device=tensor.device if device is None else device,
        **options,
    )


_NEW = (
    "*, torch.device device = None",
    "Tensor indices, Tensor values, *, torch.device device = None",
    "Tensor indices, Tensor values, tuple of ints size, *, torch.device device = None",
    "tuple of ints size, *, torch.device device = None",
)


@answers("_new", "new", of=COO)
def new(tensor: Tensor, *args, device=None) -> SparseTensor:
    """The old form of `sparse_coo_tensor`, of the tensor's dtype and device:
    of nothing, of a size, or of indices, values and a size.
    """
    from ..._tensor.legacy import check_device
    from .create import sparse_coo_tensor

    check_device(tensor.device.type, device)
    options = {"dtype": tensor.dtype, "device": tensor.device}
    if not args:
        return sparse_coo_tensor((0,), **options)
    if all(isinstance(a, int) for a in args):
        return sparse_coo_tensor(args, **options)
    if len(args) == 1 and isinstance(args[0], list):
        raise TypeError(
            "SparseTensor.new(sequence) only accepts sizes.  "
            "Please use torch.sparse_coo_tensor() or construct a strided "
            "tensor and convert it to sparse via to_sparse."
        )
    if len(args) == 1 and isinstance(args[0], tuple):
        return sparse_coo_tensor(args[0], **options)
    if len(args) in (2, 3) and all(isinstance(a, Tensor) for a in args[:2]):
        return sparse_coo_tensor(*args, **options)
    given = ", ".join(type(a).__name__ for a in args)
    calls = "\n".join(f" * ({call})" for call in _NEW)
    raise TypeError(
        "new() received an invalid combination of arguments - got "
        f"({given}), but expected one of:\n{calls}\n"
    )


_OPTIONS = (
    "\nYou could try the following options:\n1. If you need an empty sparse "
    "tensor of this size, call `x = torch.sparse_coo_tensor(size)`.\n2. If you "
    "need to resize this tensor, you have the following options:\n    1. For "
    "both sparse and dense dimensions, keep the number of them constant and "
    "the size of them non-shrinking, and then try the same call again.\n    2. "
    "Or, create a new sparse tensor with the correct indices and values from "
    "this sparse tensor."
)


def _check_resize(tensor: SparseTensor, size, sparse: int, dense: int) -> None:
    if tensor._nnz() == 0:
        return
    old, had = tuple(tensor.shape), coo.sparse_dims(tensor)
    where = f"on a non-empty sparse tensor is not supported.{_OPTIONS}"
    for kind, before, after in (
        ("sparse", had, sparse),
        ("dense", len(old) - had, dense),
    ):
        if before != after:
            raise RuntimeError(
                f"changing the number of {kind} dimensions (from {before} to "
                f"{after}) {where}"
            )
    for kind, before, after in (
        ("sparse", old[:had], size[:sparse]),
        ("dense", old[had:], size[sparse:]),
    ):
        if any(a < b for a, b in zip(after, before)):
            raise RuntimeError(
                f"shrinking the size of {kind} dimensions (from {list(before)} "
                f"to {list(after)}) {where}"
            )


@answers("sparse_resize_", of=COO)
def sparse_resize_(
    tensor: SparseTensor, size, sparse_dim: int, dense_dim: int
) -> SparseTensor:
    """Another size that holds all elements, in place: sizes may grow; how many
    are sparse and dense may change only of a tensor without elements.
    """
    size = tuple(size)
    check_written(tensor)
    check_sparse_dims(size, sparse_dim, dense_dim)
    _check_resize(tensor, size, sparse_dim, dense_dim)
    parts = parts_of(tensor)
    if tensor._nnz() == 0:
        return sparse_resize_and_clear_(tensor, size, sparse_dim, dense_dim)
    values = parts.values
    wanted = (values.shape[0], *size[sparse_dim:])
    if tuple(values.shape) != wanted:
        values = values.clone().resize_(wanted)
    made = coo.make(parts.index, values, size, _C._sparse_coalesced(tensor))
    return inplace.replace(tensor, made)


@answers("sparse_resize_and_clear_", of=COO)
def sparse_resize_and_clear_(
    tensor: SparseTensor, size, sparse_dim: int, dense_dim: int
) -> SparseTensor:
    """Another size, without elements, in place."""
    size = tuple(size)
    check_written(tensor)
    check_sparse_dims(size, sparse_dim, dense_dim)
    return inplace.replace(
        tensor, coo.empty(size, sparse_dim, dtype=tensor.dtype, device=tensor.device)
    )


@answers("resize_as_", "resize_as_sparse_", of=COO)
def resize_as_(
    tensor: SparseTensor, other: SparseTensor, *, memory_format=None
) -> SparseTensor:
    """The size and dimensions of another, in place."""
    dims = coo.sparse_dims(other)
    return sparse_resize_(tensor, other.shape, dims, other.dim() - dims)
