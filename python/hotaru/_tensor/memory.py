"""Methods of Tensor about the memory that it looks into."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from . import views as _views


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
            f"({type(source).__name__}), but expected one of:\n * ()\n"
            " * (torch.Storage source)\n * (torch.Storage source, int "
            "storage_offset, tuple of ints size, tuple of ints stride = None)"
            "\n * (Tensor source)"
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
    """Whether the other tensor looks at the same memory the same way."""
    return (
        self.untyped_storage() is tensor.untyped_storage()
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


def _new(self, *args, size=None, device=None):
    """A tensor of the same dtype and device by FloatTensor's arguments."""
    from .._extension.size import Size
    from .legacy import new

    if size is not None:
        args = (Size(size),)
    return new(self, *args, device=device)


def install() -> None:
    """Attaches everything above to Tensor."""
    for method in (
        untyped_storage, _typed_storage, storage, storage_type, set_,
        is_set_to, *_views.METHODS,
    ):  # fmt: skip
        setattr(Tensor, method.__name__, method)
    Tensor.new = _new
