"""Modes of `__torch_dispatch__`, and what is asked about the protocol."""

from __future__ import annotations

from contextlib import contextmanager

from .. import _C, _dispatch
from .._dispatch import lifted, stack

__all__ = [
    "TorchDispatchMode",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
    "return_and_correct_aliasing",
]


class TorchDispatchMode:
    """A context in which every operator of this thread is asked of the mode:
    `__torch_dispatch__(self, func, types, args=(), kwargs=None)`.

    `func` is an overload of `torch.ops.aten`, or the derivative of one
    (`hotaru.<name>.vjp`) in a backward pass. While the mode answers it is not
    asked; modes entered before it are. NotImplemented leaves the answer to
    the classes of the arguments.
    """

    def __init__(self, _dispatch_key=None) -> None:
        if _dispatch_key is not None:
            raise NotImplementedError(
                "TorchDispatchMode: hotaru has no dispatch keys; leave "
                "_dispatch_key out"
            )

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        lifted.install()
        stack.push(self)
        return self

    def __exit__(self, *exception) -> None:
        stack.pop()

    @classmethod
    def is_infra_mode(cls) -> bool:
        """True if it serves what programs do not see: no, unless a subclass
        says so.
        """
        return False

    @classmethod
    def push(cls, *args, **kwargs):
        """The same as making one."""
        return cls(*args, **kwargs)


@contextmanager
def _disable_current_modes():
    """Inside no mode is asked."""
    before = [stack.pop() for _ in list(stack.modes())]
    try:
        yield before
    finally:
        for mode in reversed(before):
            stack.push(mode)


def _get_current_dispatch_mode():
    """The mode asked first, or None."""
    return stack.modes()[-1] if stack.modes() else None


def _get_current_dispatch_mode_stack() -> list:
    """All modes of this thread, the one asked first at the end."""
    return list(stack.modes())


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Tells whether a mode is asked in this thread; without
    `include_infra_modes` those do not count whose class says so
    (`is_infra_mode`).
    """
    return any(
        include_infra_modes or not type(mode).is_infra_mode() for mode in stack.modes()
    )


def is_traceable_wrapper_subclass(t) -> bool:
    """Tells whether an object (or class) takes itself apart into tensors."""
    kind = t if isinstance(t, type) else type(t)
    return (
        issubclass(kind, _C.Tensor)
        and kind is not _C.Tensor
        and hasattr(kind, "__tensor_flatten__")
        and hasattr(kind, "__tensor_unflatten__")
    )


def return_and_correct_aliasing(func, args, kwargs, out):
    """Returns what a class with `__torch_dispatch__` has to return: of an
    operator in place its first argument, else `out`.
    """
    call = _dispatch.Call(func, tuple(args), kwargs or {})
    return call.finish(out)
