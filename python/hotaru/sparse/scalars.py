"""Sparse tensors of one element as numbers, and what they have no code for."""

from __future__ import annotations

import operator

from .._answering.table import answers
from .._C import Tensor
from .._tensor.refusals import no_pointer
from .._tensor.sparse_names import layout_name
from ..autograd import _entry
from ._kind import ANY
from .checks import NO_STRIDES


@answers("item", of=ANY)
def item(tensor: Tensor):
    """The only element."""
    return tensor.to_dense().item()


@answers("__float__", of=ANY)
def _float(tensor: Tensor) -> float:
    return float(tensor.to_dense())


@answers("__int__", of=ANY)
def _int(tensor: Tensor) -> int:
    return int(tensor.to_dense())


@answers("__index__", of=ANY)
def _index(tensor: Tensor) -> int:
    return operator.index(tensor.to_dense())


@answers("__complex__", of=ANY)
def _complex(tensor: Tensor) -> complex:
    return complex(tensor.to_dense())


@answers("__bool__", "is_nonzero", of=ANY)
def is_nonzero(tensor: Tensor) -> bool:
    """True if the only element is not 0; RuntimeError unless there is one."""
    if tensor.numel() != 1:
        few = "no values" if tensor.numel() == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {few} is ambiguous")
    return bool(tensor.to_dense())


@answers("numpy", "__array__", of=ANY)
def numpy(tensor: Tensor, **options):
    """TypeError: there is no memory to share."""
    raise TypeError(
        f"can't convert {layout_name(tensor.layout)} layout tensor to numpy. "
        "Use Tensor.to_dense() first."
    )


@answers("tolist", "data_ptr", of=ANY)
def _no_memory(tensor: Tensor):
    raise no_pointer()


@answers("storage", "untyped_storage", "is_shared", "share_memory_", of=ANY)
def _no_storage(tensor: Tensor):
    kind = "Sparse" if tensor.is_sparse else "SparseCsr"
    raise NotImplementedError(f"Cannot access storage of {kind}TensorImpl")


@answers("is_pinned", of=ANY)
def is_pinned(tensor: Tensor, device=None) -> bool:
    """Never: the memory is that of the parts."""
    return False


@answers("stride", of=ANY)
def stride(tensor: Tensor, dim=None):
    """Zeros: there is no memory of its own. Of compressed layouts there are no
    strides: RuntimeError.
    """
    if not tensor.is_sparse:
        raise RuntimeError(NO_STRIDES)
    return (0,) * tensor.dim() if dim is None else 0


@answers("is_contiguous", of=ANY)
def is_contiguous(tensor: Tensor, memory_format=None) -> bool:
    """Never: there is no memory of its own."""
    return False


@answers("_type", "type", of=ANY)
def type_of(tensor: Tensor, dtype=None, non_blocking: bool = False, **options):
    """The name of its legacy class; with a dtype, the same in it."""
    from .._extension.dtypes import dtype_of_type, type_string

    if dtype is None:
        return type_string(tensor)
    return tensor.to(dtype_of_type(dtype))


@answers("grad", of=ANY)
def grad(outputs, inputs, **options):
    """`autograd.grad`, which is the engine's for sparse tensors, too."""
    return _entry.gradients(outputs, inputs, **options)
