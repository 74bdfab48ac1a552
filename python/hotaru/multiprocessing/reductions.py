"""How tensors and storages go from process to process."""

from __future__ import annotations

import os
import weakref
from multiprocessing.reduction import DupFd, ForkingPickler

from .. import _C, Tensor
from ..cpu import synchronize
from ..storage._typed import TypedStorage, UntypedStorage

# Memory that is here already, by its file and where it begins in that: who
# receives it gets it as it is.
_known: weakref.WeakValueDictionary[tuple[int, int, int], UntypedStorage] = (
    weakref.WeakValueDictionary()
)


def share(tensor) -> None:
    """Moves a tensor's storage into shared memory, with all views of it."""
    if shareable_block(tensor) is None:
        _C._share_storage(tensor)
        remember(shareable_block(tensor), tensor.untyped_storage())


def check_leaf(tensor) -> None:
    """RuntimeError for a tensor with a history, which cannot travel."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which "
            "requires_grad, since autograd does not support crossing process "
            "boundaries.  If you just want to transfer the data, call detach() "
            "on the tensor before serializing (e.g., putting it on the queue)."
        )


def rebuilt(cls: type, tensor, requires_grad: bool):
    """`tensor` as an instance of `cls`."""
    if cls is not Tensor:
        return _C._make_subclass(cls, tensor, requires_grad)
    tensor.requires_grad = requires_grad
    return tensor


def reduce_tensor(tensor):
    """For a pickler that runs while a process is reached."""
    check_leaf(tensor)
    if tensor.device.type != "cpu" or _C._answering_class(tensor) is not type(tensor):
        return tensor.__reduce_ex__(2)
    geometry = (tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))
    kind = (type(tensor), tensor.requires_grad)
    return _rebuild, (*kind, _sent(tensor), tensor.dtype, geometry)


def reduce_storage(storage):
    """As `reduce_tensor`, for the bytes alone."""
    if storage.device.type != "cpu" or storage.nbytes() == 0:
        return storage.__reduce_ex__(2)
    return received, _sent(bytes_of(storage))


def reduce_typed_storage(storage):
    """As `reduce_tensor`, for a storage that knows its dtype."""
    return _rebuild_typed, (storage._untyped_storage, storage._dtype)


def bytes_of(storage):
    """A storage's bytes as a tensor that looks into it."""
    return _C.tensor(storage, dtype=_C.uint8, device=storage.device)


def shareable_block(tensor):
    """The block of a tensor whose descriptor is still open, or None."""
    block = _C._SharedMemory.of(tensor)
    return block if block is not None and block.descriptor >= 0 else None


def remember(block, storage: UntypedStorage) -> int:
    """Notes a storage in a block, for when the block comes back.

    Returns where in the block it begins.
    """
    offset = storage.data_ptr() - block.address
    _known[(*_file(block.descriptor), offset)] = storage
    return offset


def _sent(tensor) -> tuple:
    """Names what `received` takes to give a tensor's storage, for a pickle."""
    storage = tensor.untyped_storage()
    if storage.nbytes() == 0:
        return (storage,)
    share(tensor)
    synchronize()  # what a stream still writes
    block = shareable_block(tensor)
    offset = remember(block, storage)
    return DupFd(block.descriptor), offset, storage.nbytes()


def _file(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def received(sent, offset: int = 0, nbytes: int = 0) -> UntypedStorage:
    """The storage that was sent: the one of this process, or it is mapped.

    Args:
        sent: a descriptor, which it takes over, or what stands for one in a
            pickle. A storage is given back.
        offset, nbytes: what of the block's bytes it has.
    """
    if isinstance(sent, UntypedStorage):
        return sent
    number = sent if isinstance(sent, int) else sent.detach()
    key = (*_file(number), offset)
    known = _known.get(key)
    if known is not None and known.nbytes() >= nbytes:
        os.close(number)
        return known
    block = _C._SharedMemory.map(number)
    whole = block.tensor(_C.uint8, (block.nbytes,)).untyped_storage()
    storage = _known[key] = whole[offset : offset + nbytes]
    return storage


def _rebuild(cls, requires_grad, sent, dtype, geometry):
    plain = _C.ops.empty((0,), dtype=dtype)
    plain.set_(received(*sent), *geometry)
    return rebuilt(cls, plain, requires_grad)


def _rebuild_typed(storage: UntypedStorage, dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def register() -> None:
    """Makes multiprocessing's pickler share tensors and their subclasses."""
    from ..nn import Parameter

    for cls in (Tensor, Parameter):
        ForkingPickler.register(cls, reduce_tensor)
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(TypedStorage, reduce_typed_storage)
