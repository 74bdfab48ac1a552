"""Methods of Tensor about the memory that it looks into, and where that is."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .._late import lent


def untyped_storage(self):
    """The bytes that the tensor looks into."""
    from .. import storage  # noqa: F401 its class is complete

    return _C._storage_of(self)


def _typed_storage(self):
    from ..storage import TypedStorage

    return TypedStorage(
        wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True
    )


def storage(self):
    """The same as a TypedStorage, which is deprecated."""
    from ..storage import _warn_typed_storage_removal

    _warn_typed_storage_removal(stacklevel=2)
    return self._typed_storage()


def storage_type(self):
    """The class of its legacy storage."""
    from ..storage import _warn_typed_storage_removal

    _warn_typed_storage_removal(stacklevel=2)
    return self._typed_storage()._legacy_class()


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Looks at other memory from now on; returns self.

    Args:
        source: a tensor or storage of the same dtype and device; by default
            an empty one.
        storage_offset, size, stride: the geometry there, by default the
            tensor's, or all of a storage.

    Raises:
        RuntimeError: another dtype; geometry outside of memory that cannot
            grow.
    """
    from .._extension.dtypes import cpp_name, scalar_type
    from ..storage import TypedStorage, UntypedStorage

    if isinstance(source, Tensor):
        if source.dtype is not self.dtype:
            raise RuntimeError(
                f"Could not set tensor of type {cpp_name(source.dtype)} to a "
                f"tensor of type {cpp_name(self.dtype)}"
            )
        if size is None:
            size, stride = source.shape, source.stride()
            storage_offset = source.storage_offset()
        memory = source.untyped_storage()
    elif isinstance(source, TypedStorage):
        if source._dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {cpp_name(self.dtype)} or an "
                "UntypedStorage, but got type "
                f"{scalar_type(source._dtype)} for argument 1 'storage'"
            )
        memory = source._untyped_storage
    elif source is None:
        memory, size = UntypedStorage(device=self.device), (0,)
    elif isinstance(source, _C.StorageBase):
        memory = source
    else:
        raise TypeError(
            "set_() received an invalid combination of arguments - got "
            f"({type(source).__name__}), but expected one of:\n * ()\n "
            "* (torch.Storage source)\n "
            "* (torch.Storage source, int storage_offset, tuple of ints size, "
            "tuple of ints stride = None)\n * (Tensor source)"
        )
    if memory.device != self.device:
        raise RuntimeError(
            f"Attempted to set the storage of a tensor on device "
            f'"{self.device}" to a storage on different device '
            f'"{memory.device}".  This is no longer allowed; the devices must '
            "match."
        )
    if size is None:
        size = (memory.nbytes() // self.itemsize,)
    return _C._set_storage(self, memory, storage_offset, size, stride)


def is_set_to(self, tensor) -> bool:
    """True if the other tensor looks at the same memory the same way."""
    return (
        self.untyped_storage() is tensor.untyped_storage()
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


def _new(self, *args, **keywords):
    """A tensor of the same dtype and device by FloatTensor's arguments."""
    from .legacy import new

    return new(self, *args, **keywords)


def cuda(
    self, device=None, non_blocking: bool = False, memory_format=_C.preserve_format
):
    """The tensor on a GPU: itself if it is there, or a copy.

    Args:
        device: by default the current one.
        non_blocking: not to wait for a copy from page-locked memory.
        memory_format: order of the copy's elements.

    Raises:
        RuntimeError: no such GPU, or a device of another kind.
    """
    device = _C.device("cuda" if device is None else device)
    if device.type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    return self.to(
        device=device, non_blocking=non_blocking, memory_format=memory_format
    )


def record_stream(self, stream) -> None:
    """Needless: memory is used again only when all streams are done with it,
    as each tensor knows who uses it.
    """
    if not isinstance(stream, _C.Stream):
        raise TypeError(f"expected a Stream, but got {type(stream).__name__}")


def get_device(self) -> int:
    """The accelerator's index; -1 for the CPU."""
    return -1 if self.device.index is None else self.device.index


def is_contiguous(self, memory_format=_C.contiguous_format) -> bool:
    """True if the elements lie in the format's order without gaps."""
    if memory_format is _C.contiguous_format:
        return self._is_contiguous()
    return _C._has_format(self, memory_format)


def dim_order(self, *, ambiguity_check=False) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost.

    Args:
        ambiguity_check: refuse a tensor for which other orders would do, too;
            of a list of memory formats, one that lies in several of them.

    Raises:
        RuntimeError: the order is ambiguous, and that was asked for.
        TypeError: `ambiguity_check` is neither a bool nor such a list.
    """
    formats = ambiguity_check
    if isinstance(formats, bool):
        stride, size = self.stride(), self.shape
        known = [s for s, n in zip(stride, size, strict=True) if n != 1]
        clear = not formats or (
            len(known) == len(size) and len(set(known)) == len(known)
        )
    elif isinstance(formats, list) and all(
        isinstance(f, _C.memory_format) for f in formats
    ):
        clear = sum(self.is_contiguous(memory_format=f) for f in formats) == 1
    else:
        raise TypeError(
            "The ambiguity_check argument must be a bool or a list of memory formats."
        )
    if not clear:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to "
            "exact one of the given memory formats."
        )
    dense = self.is_contiguous()
    last = _C._has_format(self, _C.channels_last)
    if dense and not last:
        return tuple(range(self.dim()))
    if last and not dense:
        return (0, *range(2, self.dim()), 1)
    return _outermost_first(self.stride(), self.shape)


def _outermost_first(stride, size) -> tuple[int, ...]:
    """Dimensions by their strides; expanded ones stay where they stand.

    An expanded dimension, of stride 0, compares with no other, so this is the
    insertion sort of PyTorch: a comparison without an answer is passed over.
    """
    order = list(reversed(range(len(size))))
    for i in range(1, len(order)):
        at = i
        for before in reversed(range(i)):
            a, b = order[before], order[at]
            if stride[a] == 0 or stride[b] == 0:
                continue
            keys = (stride[a], size[a]), (stride[b], size[b])
            if keys[0] > keys[1]:
                order[before], order[at] = b, a
                at = before
            elif stride[a] < stride[b]:
                break
    return tuple(reversed(order))


def _check_pin_device(device) -> None:
    if device is not None and _C.device(device).type != "cuda":
        raise RuntimeError(f"memory is pinned for cuda devices, not for {device}")


def is_pinned(self, device=None) -> bool:
    """True if the values lie in page-locked memory, which GPUs copy from and
    to by themselves.
    """
    _check_pin_device(device)
    return _C._is_pinned(self)


def pin_memory(self, device=None):
    """The tensor in page-locked memory: itself if it is there, or a copy.

    Raises:
        RuntimeError: without a CUDA driver, or for a tensor of a GPU.
    """
    _check_pin_device(device)
    return _C._pin_memory(self)


def share_memory_(self):
    """Moves the values into memory that other processes can map; self."""
    lent("share_memory")(self)
    return self


def is_shared(self) -> bool:
    """True if the values lie in memory that processes share."""
    return _C._SharedMemory.of(self) is not None


def slice_inverse(
    self, src: Tensor, dim: int = 0, start=None, end=None, step=1
) -> Tensor:
    """The tensor that a slice is of: its memory in the order of `src`.

    RuntimeError: its memory does not reach that far.
    """
    return self.as_strided(src.shape, src.stride(), src.storage_offset())
