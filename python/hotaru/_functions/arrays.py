"""Tensors from other objects: arrays, buffers, files; powers of numbers."""

from __future__ import annotations

import warnings

from .. import _C
from .._C import Tensor, ops

__all__ = ["asarray", "from_file", "frombuffer", "vander"]


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False) -> Tensor:
    """A vector over the memory of an object with the buffer protocol.

    Args:
        dtype: of the elements, whatever the object says of them.
        count: how many, by default all from `offset` bytes on.

    Raises:
        ValueError: no buffer; more than the buffer holds, or nothing.
    """
    if not _C._lends_memory(buffer):
        raise ValueError("object does not implement Python buffer protocol.")
    out = _C.frombuffer(buffer, dtype=dtype, count=count, offset=offset)
    return out.requires_grad_() if requires_grad else out


def _is_capsule(obj) -> bool:
    return type(obj).__name__ == "PyCapsule"


def _has_buffer(obj) -> bool:
    if isinstance(obj, (list, tuple, str)) or hasattr(obj, "__array__"):
        return False
    return _C._lends_memory(obj)


def _shared(obj, dtype) -> Tensor | None:
    """A tensor that shares the object's memory, or None."""
    from . import from_dlpack

    if isinstance(obj, Tensor):
        return obj
    if hasattr(obj, "__array__") and not hasattr(obj, "__cuda_array_int__"):
        try:
            return _C.from_numpy(obj)
        except TypeError:
            # Other libraries' arrays may go by DLPack.
            if hasattr(obj, "ctypes") or not hasattr(obj, "__dlpack__"):
                return None
    if _is_capsule(obj) or hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    if _has_buffer(obj):
        return frombuffer(obj, dtype=dtype or _C.get_default_dtype())
    return None


_KEPT = (
    "torch.asarray: unspecified requires_grad now defaults to "
    "obj.requires_grad instead of False. Pass requires_grad=False explicitly "
    "to get the old behavior and silence this warning."
)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None) -> Tensor:
    """A tensor of an object's values, over its memory where that is possible.

    Args:
        obj: a tensor, an array, a DLPack capsule, an object with the buffer
            protocol (of `dtype`, by default the default one), a storage, or
            numbers in nested sequences.
        copy: True for memory of its own, False for an error without a shared
            one, None for whichever it takes.
        requires_grad: False cuts off a tensor's history, None keeps it, with
            a warning.

    Raises:
        ValueError: copy=False where the memory cannot be shared.
    """
    # Numbers of NumPy's have no memory; arrays without dimensions do.
    number = type(obj).__module__ == "numpy" and not hasattr(obj, "ctypes")
    if copy is False and number and getattr(obj, "ndim", None) == 0:
        raise RuntimeError(
            "can't alias NumPy scalars. "
            "Either remove copy=False or transform it in a ndarray."
        )
    shared = _shared(obj, dtype)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        out = _C.tensor(obj, dtype=dtype, device=device)
        return out.requires_grad_() if requires_grad else out
    wanted = shared.dtype if dtype is None else dtype
    device = _C._chosen_device() if device is None else device
    where = shared.device if device is None else _C.device(device)
    there = where.type == shared.device.type and (
        where.index is None or where == shared.device
    )
    if copy is False and not there:
        raise ValueError(
            f"can't alias tensor from device '{shared.device}' to '{where}'."
        )
    if copy is False and wanted is not shared.dtype:
        raise ValueError(
            f"can't alias tensor with dtype '{shared.dtype}' into dtype '{wanted}'."
        )
    if copy or not there or wanted is not shared.dtype:
        out = shared.to(device=where, dtype=wanted, copy=bool(copy))
    else:
        out = shared
    if requires_grad is None:
        requires_grad = shared.requires_grad
        if requires_grad:
            warnings.warn(_KEPT, stacklevel=2)
    if not requires_grad:
        return out.detach() if out.requires_grad else out
    return out if out.requires_grad else out.requires_grad_()


def from_file(filename, shared=None, size: int = 0, *, dtype=None, **kwargs) -> Tensor:
    """A vector of `size` elements over a file that is mapped into memory.

    Args:
        shared: writes go to the file, which is made as long as needed.
        dtype: by default the default one.

    Raises:
        RuntimeError: the file is shorter and not shared, or cannot be opened.
    """
    from ..storage import UntypedStorage

    dtype = _C.get_default_dtype() if dtype is None else dtype
    memory = UntypedStorage.from_file(filename, bool(shared), size * dtype.itemsize)
    # A storage of no bytes is all of the file; a vector of none is empty.
    out = _C.tensor(memory if size else UntypedStorage(0), dtype=dtype)
    return out.requires_grad_() if kwargs.get("requires_grad") else out


def vander(x: Tensor, N: int | None = None, increasing: bool = False):
    """The matrix of the powers of a vector, one column each.

    Args:
        N: how many columns, by default as many as elements.
        increasing: begin with the power 0 rather than end with it.

    Raises:
        RuntimeError: no vector, or N below 0.
    """
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.numel() if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    whole = not (x.is_floating_point() or x.is_complex())
    dtype = _C.int64 if whole else x.dtype
    out = x.new_ones(x.numel(), min(n, 1), dtype=dtype)
    if n > 1:
        powers = x.to(dtype)[:, None].expand(-1, n - 1).cumprod(1)
        out = ops.cat([out, powers], 1)
    return out if increasing else out.flip(1)
