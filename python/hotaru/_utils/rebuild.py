"""Functions of which pickles make tensors.

The names belong to the format of files, which know the functions as those of
`torch._utils`.
"""

from __future__ import annotations

from .. import _C, Tensor, empty_strided
from .._late import lent

# Two are found beside the class of parameters.
REBUILD_FUNCTIONS = (
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_device_tensor_from_cpu_tensor",
    "_rebuild_nested_tensor",
    "_rebuild_qtensor",
    "_rebuild_sparse_tensor",
    "_rebuild_wrapper_subclass",
)


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
    storage, offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None
):
    """As `_rebuild_tensor_v2`, of an untyped storage."""
    made = _rebuild_tensor(storage, offset, size, stride, dtype)
    made = _with_bits(made, metadata)
    made.requires_grad = requires_grad
    return made


def _with_bits(tensor, bits):
    """The tensor, or what it is conjugated or negated: here a copy, which
    comes when the bytes are there.
    """
    from ..serialization._options import _serialization_tls

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


for _name in REBUILD_FUNCTIONS:
    if _name in globals():
        globals()[_name].__module__ = __name__.rpartition(".")[0]
