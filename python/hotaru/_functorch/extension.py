"""Names of `torch._C._functorch`: questions about wrapped tensors.

Transforms wrap none here: they differentiate by leaves of their own, and map
by a loop. So nothing is a wrapper, and what would make one refuses.
"""

from __future__ import annotations

__all__ = [
    "_add_batch_dim",
    "_remove_batch_dim",
    "get_unwrapped",
    "is_batchedtensor",
    "is_functionaltensor",
    "is_functorch_wrapped_tensor",
    "is_gradtrackingtensor",
    "is_legacy_batchedtensor",
    "maybe_get_bdim",
    "maybe_get_level",
]

_NONE_BATCHED = (
    "{}: hotaru's vmap calls its function once for each slice and has no "
    "batched tensors; torch.vmap maps functions"
)


def _is_wrapped(tensor) -> bool:
    """Tells whether a transform wraps the tensor: never."""
    return False


is_batchedtensor = _is_wrapped
is_functionaltensor = _is_wrapped
is_functorch_wrapped_tensor = _is_wrapped
is_gradtrackingtensor = _is_wrapped
is_legacy_batchedtensor = _is_wrapped


def maybe_get_bdim(tensor) -> int:
    """The mapped dimension of a tensor; -1 where there is none."""
    return -1


def maybe_get_level(tensor) -> int:
    """The transform whose wrapper a tensor is; -1 where there is none."""
    return -1


def get_unwrapped(tensor):
    """RuntimeError: there is nothing inside of a tensor."""
    raise RuntimeError("No wrappers present!")


class SliceLevel(int):
    """A level of `vmap` that knows the slice of its call.

    Containers are handed it where they make batched tensors of their own, later
    and by `_add_batch_dim`: of parameters that have no shape yet.
    """

    def __new__(cls, index: int):
        level = super().__new__(cls, 1)
        level.index = index
        return level


def _add_batch_dim(tensor, in_dim: int, level: int):
    """The slice, where the level tells which; RuntimeError elsewhere, as there
    are no batched tensors.
    """
    if isinstance(level, SliceLevel):
        return tensor.select(in_dim, level.index)
    raise RuntimeError(_NONE_BATCHED.format("_add_batch_dim"))


def _remove_batch_dim(tensor, level: int, batch_size: int, out_dim: int):
    """RuntimeError: there are no batched tensors."""
    raise RuntimeError(_NONE_BATCHED.format("_remove_batch_dim"))
