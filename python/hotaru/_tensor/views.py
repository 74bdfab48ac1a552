"""Views done again: from another base, or a base from another view.

A view is its sizes, strides and offset in the memory of its base (and a dtype,
for those that look at the bytes differently), so no list of operators is kept.
"""

from __future__ import annotations

import threading

from .. import _C
from .._C import Tensor
from .._extension.grad_mode import _Mode


class _Thread(threading.local):
    def __init__(self) -> None:
        self.replay = False


_thread = _Thread()


def is_view_replay_enabled() -> bool:
    """Tells what `_force_original_view_tracking` set last in this thread."""
    return _thread.replay


class _force_original_view_tracking(_Mode):  # noqa: N801
    """Sets whether the graph of a view that was written has its own operators.

    At once, and until the exit. They are there in either mode: a view's
    history is never put down as strides. What was set can be asked.
    """

    def __new__(cls, mode: bool):
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.prev = _thread.replay
        _thread.replay = mode

    def __call__(self, function):
        _thread.replay = self.prev
        return super().__call__(function)

    def __enter__(self) -> None:
        _thread.replay = self.mode

    def __exit__(self, *error: object) -> None:
        _thread.replay = self.prev

    def clone(self) -> _force_original_view_tracking:
        return _force_original_view_tracking(self.mode)


def _no_visitors(symint_visitor_fn, tensor_visitor_fn) -> None:
    if symint_visitor_fn is not None or tensor_visitor_fn is not None:
        raise NotImplementedError(
            "_view_func: a view keeps sizes and strides, not its operators' "
            "arguments, so there is nothing for a visitor to see; call the "
            "operators with other arguments instead"
        )


def _view_func(
    self: Tensor, new_base: Tensor, symint_visitor_fn=None, tensor_visitor_fn=None
) -> Tensor | None:
    """The same view of `new_base`, with its history.

    None where `self` is no view, or `new_base` is not laid out as its base.

    Raises:
        NotImplementedError: visitors.
    """
    _no_visitors(symint_visitor_fn, tensor_visitor_fn)
    base = self._base
    if base is None or not _alike(base, new_base):
        return None
    return _view_func_unsafe(self, new_base)


def _view_func_unsafe(
    self: Tensor, new_base: Tensor, symint_visitor_fn=None, tensor_visitor_fn=None
) -> Tensor | None:
    """`_view_func`, for a base laid out in any way: strides and the offset
    are those of the old one.

    RuntimeError where its memory does not reach so far.
    """
    _no_visitors(symint_visitor_fn, tensor_visitor_fn)
    base = self._base
    if base is None:
        return None
    moved = _in_dtype(new_base, self.dtype)
    begins = base.storage_offset() * base.element_size()
    offset = self.storage_offset() - begins // self.element_size()
    return moved.as_strided(self.size(), self.stride(), moved.storage_offset() + offset)


def _rev_view_func_unsafe(self: Tensor, new_view: Tensor) -> Tensor:
    """The base of which `new_view` is what `self` is of its own, as a view.

    RuntimeError where `self` is no view, or the memory is too small.
    """
    base = self._base
    if base is None:
        raise RuntimeError("No _rev_view_func() found")
    moved = _in_dtype(new_view, base.dtype)
    begins = self.storage_offset() * self.element_size()
    offset = base.storage_offset() - begins // base.element_size()
    return moved.as_strided(base.size(), base.stride(), moved.storage_offset() + offset)


def _in_dtype(tensor: Tensor, dtype) -> Tensor:
    """A view of the memory in a dtype, its offset that of the tensor (of an
    imaginary part that of the number).
    """
    if tensor.dtype == dtype:
        return tensor
    if tensor.is_complex() and tensor.dtype.to_real() == dtype:
        return _C.ops.view_as_real(tensor)
    if dtype.is_complex and dtype.to_real() == tensor.dtype:
        start = tensor.storage_offset() // 2 * 2
        pairs = tensor.as_strided((tensor.numel() // 2, 2), (2, 1), start)
        return _C.ops.view_as_complex(pairs)
    return tensor.as_strided((tensor.numel(),), (1,)).view(dtype)


def _alike(base: Tensor, other: Tensor) -> bool:
    return (
        base.size() == other.size()
        and base.stride() == other.stride()
        and base.storage_offset() == other.storage_offset()
        and base.dtype == other.dtype
        and base.device == other.device
    )
