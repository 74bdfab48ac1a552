"""How tensors and storages go from process to process."""

from __future__ import annotations

import os
import weakref
from multiprocessing.reduction import DupFd, ForkingPickler

from .. import _C, Tensor
from ..cpu import synchronize
from ..storage._typed import TypedStorage, UntypedStorage

# Memory that is here already, by its file: who receives it gets it as it is.
_known: weakref.WeakValueDictionary[tuple[int, int], UntypedStorage] = (
    weakref.WeakValueDictionary()
)


def share(tensor) -> None:
    """Moves a tensor's storage into shared memory, with all views of it."""
    if _shareable_block(tensor) is None:
        _C._share_storage(tensor)


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
    if tensor.device.type != "cpu":
        return tensor.__reduce_ex__(2)
    share(tensor)
    synchronize()  # what a stream still writes
    geometry = (
        tuple(tensor.shape),
        tuple(tensor.stride()),
        tensor.storage_offset(),
    )
    return _rebuild, (
        type(tensor),
        tensor.requires_grad,
        _sent(tensor),
        tensor.dtype,
        *geometry,
    )


def reduce_storage(storage):
    """As `reduce_tensor`, for the bytes alone."""
    if storage.device.type != "cpu" or storage.nbytes() == 0:
        return storage.__reduce_ex__(2)
    plain = _bytes_of(storage)
    share(plain)
    synchronize()
    return _rebuild_storage, (_sent(plain), storage.nbytes())


def reduce_typed_storage(storage):
    """As `reduce_tensor`, for a storage that knows its dtype."""
    return _rebuild_typed, (storage._untyped_storage, storage._dtype)


def _bytes_of(storage):
    return _C.ops.empty((0,), dtype=_C.uint8).set_(storage)


def _shareable_block(tensor):
    """The block of a tensor whose descriptor is still open, or None."""
    block = _C._SharedMemory.of(tensor)
    return block if block is not None and block.descriptor >= 0 else None


def _sent(tensor):
    """What stands for a tensor's block in a pickle."""
    number = _shareable_block(tensor).descriptor
    _known[_file(number)] = tensor.untyped_storage()
    return DupFd(number)


def _file(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _received(sent, nbytes: int) -> UntypedStorage:
    """The storage that was sent: the one of this process, or it is mapped."""
    number = sent.detach()
    file = _file(number)
    known = _known.get(file)
    if known is not None and known.nbytes() >= nbytes:
        os.close(number)
        return known
    block = _C._SharedMemory.map(number)
    whole = block.tensor(_C.uint8, (block.nbytes,))
    storage = _known[file] = whole.untyped_storage()
    return storage


def _rebuild(cls, requires_grad, sent, dtype, shape, stride, offset):
    steps = (step * (size - 1) for size, step in zip(shape, stride))
    last = offset + sum(steps) + 1 if 0 not in shape else 0
    storage = _received(sent, last * dtype.itemsize)
    plain = _C.ops.empty((0,), dtype=dtype)
    return rebuilt(
        cls, plain.set_(storage, offset, shape, stride), requires_grad
    )


def _rebuild_storage(sent, nbytes: int) -> UntypedStorage:
    storage = _received(sent, nbytes)
    return storage if storage.nbytes() == nbytes else storage[:nbytes]


def _rebuild_typed(storage: UntypedStorage, dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def register() -> None:
    """Makes multiprocessing's pickler share tensors and their subclasses."""
    from ..nn import Parameter

    for cls in (Tensor, Parameter):
        ForkingPickler.register(cls, reduce_tensor)
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(TypedStorage, reduce_typed_storage)
