"""Small helpers shared by the Python part of the package."""

from __future__ import annotations

import sys
import traceback

import hotaru

from . import _C, Tensor, empty_strided
from ._late import lent


def typename(obj: object) -> str:
    """Name of `obj`'s type as error texts spell it.

    A tensor gives its legacy type string ("torch.FloatTensor"), anything else
    its qualified class name, without the module for builtins.
    """
    if isinstance(obj, Tensor):
        return obj.type()
    cls = obj if isinstance(obj, type) else type(obj)
    module = getattr(cls, "__module__", "")
    # Where a native type is defined is no part of its public name.
    module = module.removesuffix("._C")
    name = getattr(cls, "__qualname__", cls.__name__)
    return name if module in ("", "builtins") else f"{module}.{name}"


def _element_size(dtype) -> int:
    """Bytes of an element."""
    return dtype.itemsize


def _is_privateuse1_backend_available() -> bool:
    """Whether a device that an extension brings is there: hotaru's table of
    devices takes none from outside.
    """
    return False


def _rebuild_operator(name: str, method: bool):
    """The operator or method of that name; what pickles of one refer to."""
    return getattr(hotaru.Tensor if method else hotaru.ops, name)


class KeyErrorMessage(str):
    """A text whose repr is the text: KeyError shows its argument's repr."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The exception being handled, with its traceback's text, to be sent.

    Args:
        exc_info: as `sys.exc_info()` gives it; of another exception.
        where: for the message, as in "in DataLoader worker process 0".
    """

    def __init__(self, exc_info=None, where: str = "in background") -> None:
        kind, value, trace = exc_info or sys.exc_info()
        self.exc_type = kind
        self.exc_msg = "".join(traceback.format_exception(kind, value, trace))
        self.where = where

    def reraise(self):
        """Raises an exception of the same type.

        RuntimeError where the type does not take a message.
        """
        kind = self.exc_type
        message = (
            f"Caught {kind.__name__} {self.where}.\nOriginal {self.exc_msg}"
        )
        if kind is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(kind, "message", None):
            raise kind(message=message)
        try:
            error = kind(message)
        except Exception:
            raise RuntimeError(message) from None
        raise error


# These names belong to the format of files, which know the functions by them.
REBUILD_FUNCTIONS = (
    "_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_tensor",
    "_rebuild_tensor_v2", "_rebuild_tensor_v3",
    "_rebuild_meta_tensor_no_storage", "_rebuild_device_tensor_from_cpu_tensor",
    "_rebuild_nested_tensor", "_rebuild_qtensor",
    "_rebuild_sparse_tensor", "_rebuild_wrapper_subclass",
)  # fmt: skip


def _rebuild_nested_tensor(buffer, sizes, strides, storage_offsets):
    """A nested tensor of the layout strided: a 1-D buffer, and tables (N, D) of
    the sizes and strides of its elements.
    """
    made = lent("nested_of_tables")
    return made(buffer, sizes, strides, storage_offsets)


def _rebuild_tensor(storage, offset, size, stride, dtype=None):
    """A tensor of a typed storage's bytes, or of an untyped one's and a dtype.

    A storage of the meta device grows to what the tensor takes.

    RuntimeError: the storage does not hold that much.
    """
    untyped = getattr(storage, "_untyped_storage", storage)
    dtype = dtype or storage._dtype
    last = sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    needed = (offset + last + 1) * dtype.itemsize
    if 0 not in size and needed > untyped.nbytes():
        if untyped.device.type == "meta":
            untyped.resize_(needed)
            return _rebuild_tensor(storage, offset, size, stride, dtype)
        raise RuntimeError(
            f"a tensor of size {tuple(size)}, stride {tuple(stride)} and "
            f"offset {offset} does not fit into a storage of "
            f"{untyped.nbytes()} bytes"
        )
    return look_into(untyped, dtype, offset, tuple(size), tuple(stride))


def look_into(untyped, dtype, offset: int, size: tuple, stride: tuple):
    """A tensor that looks into a storage. Nothing is written: what a backward
    pass kept of the memory stays good, as it would not after `set_`.
    """
    whole = _C.tensor(untyped, dtype=dtype, device=untyped.device)
    return _C._over_storage(whole.as_strided(size, stride, offset), whole)


def _rebuild_tensor_v2(
    storage, offset, size, stride, requires_grad, backward_hooks, metadata=None
):
    """The tensor of a typed storage in files of `torch.save`.

    backward_hooks belongs to the format; metadata says whether the numbers
    are to be conjugated or negated.
    """
    made = _with_bits(_rebuild_tensor(storage, offset, size, stride), metadata)
    made.requires_grad = requires_grad
    return made


def _rebuild_tensor_v3(
    storage, offset, size, stride, requires_grad, backward_hooks, dtype,
    metadata=None,
):  # fmt: skip
    """As `_rebuild_tensor_v2`, of an untyped storage."""
    made = _rebuild_tensor(storage, offset, size, stride, dtype)
    made = _with_bits(made, metadata)
    made.requires_grad = requires_grad
    return made


def _with_bits(tensor, bits):
    """The tensor, or what it is conjugated or negated: here a copy, which
    comes when the bytes are there.
    """
    from .serialization._options import _serialization_tls

    def values():
        found = tensor.conj() if bits.get("conj") else tensor
        return found.neg() if bits.get("neg") else found

    if not bits:
        return tensor
    later = _serialization_tls.when_filled
    if later is None:
        return values()
    made = tensor.clone()
    later.append(lambda: made.detach().copy_(values()))
    return made


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    """A tensor of the meta device, of which there are no bytes."""
    return empty_strided(
        size, stride, dtype=dtype, device="meta", requires_grad=requires_grad
    )


def _rebuild_wrapper_subclass(
    cls, dtype, size, stride, storage_offset, layout, device, requires_grad
):
    """A tensor that keeps its elements itself, before it has its attributes."""
    return Tensor._make_wrapper_subclass(
        cls,
        size,
        strides=stride,
        dtype=dtype,
        storage_offset=storage_offset,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def _rebuild_device_tensor_from_cpu_tensor(data, dtype, device, requires_grad):
    """A tensor that was saved by way of the CPU."""
    made = data.to(dtype=dtype, device=device)
    made.requires_grad = requires_grad
    return made


def _rebuild_sparse_tensor(layout, data):
    """A sparse tensor of its parts."""
    return lent("sparse_of_parts")(layout, data)


def _rebuild_qtensor(*parts):
    """A quantised tensor of its parts."""
    return lent("quantized_of_parts")(*parts)


def __getattr__(name: str):
    # By these names, which belong to the format, files of pickles know them.
    if name == "torch":  # of `torch.channels_last`
        return hotaru
    if name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
        return getattr(lent("parameter"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def set_module(obj, mod: str) -> None:
    """Says that an object is of the module of that name.

    TypeError: it is no name.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
