"""How tensors go from process to process."""

from __future__ import annotations

from multiprocessing.reduction import DupFd, ForkingPickler

from .. import _C, Tensor
from ..cpu import synchronize


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
    block = _shareable_block(tensor)
    geometry = (
        tuple(tensor.shape),
        tuple(tensor.stride()),
        tensor.storage_offset(),
    )
    return _rebuild, (
        type(tensor),
        tensor.requires_grad,
        DupFd(block.descriptor),
        tensor.dtype,
        *geometry,
    )


def _shareable_block(tensor):
    """The block of a tensor whose descriptor is still open, or None."""
    block = _C._SharedMemory.of(tensor)
    return block if block is not None and block.descriptor >= 0 else None


def _rebuild(cls, requires_grad, duplicate, dtype, shape, stride, offset):
    block = _C._SharedMemory.map(duplicate.detach())
    tensor = block.tensor(dtype, shape, stride, offset)
    return rebuilt(cls, tensor, requires_grad)


def register() -> None:
    """Makes multiprocessing's pickler share tensors and their subclasses."""
    from ..nn import Parameter

    for cls in (Tensor, Parameter):
        ForkingPickler.register(cls, reduce_tensor)
