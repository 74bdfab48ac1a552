"""State that tells whether a transform, such as `grad` or `vmap`, is calling
its function, and which tensors are that call's own.
"""

from __future__ import annotations

import threading

from .. import _C


class _Calls(threading.local):
    """The calls of transforms that this thread is within, outermost first."""

    def __init__(self) -> None:
        self.open: list[Within] = []


_calls = _Calls()

_CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided "
    "attempted to call in-place operation (aten::add_.Tensor) that would "
    "mutate a captured Tensor. This is not supported; please rewrite the "
    "function being transformed to explicitly accept the mutated Tensor(s) as "
    "inputs."
)
_STATISTICS = (
    "Batch norm got a batched tensor as input while the running_mean or "
    "running_var, which will be updated in place, were not batched.\nIf you "
    "are using a module and do not need eval mode, please set "
    "`track_running_stats` to be False.If you are using a prebuilt module and "
    "do not need eval mode, please see the functorch website for resources on "
    "how to patch your module to work with vmap"
)


class Within:
    """The scope in which a transform calls its function.

    Args:
        tensors: the arguments that the transform gives the function, of `vmap`
            those that are mapped.
        maps: whether it is `vmap`.
        forward: whether it is one in the direction of the function, as `jvp`.
    """

    def __init__(self, tensors=(), maps: bool = False, forward: bool = False) -> None:
        self._own = {_C._storage_address(tensor) for tensor in tensors}
        self._made: list = []  # kept, so that no other one gets the address
        self.maps = maps
        self.forward = forward
        # Calls of Functions with a `vmap` of their own: the class, the
        # arguments and what it gave.
        self.applied: list[tuple] = []

    def __enter__(self) -> None:
        _calls.open.append(self)
        _C._count_interposer(1)

    def __exit__(self, *exception) -> None:
        _calls.open.pop()
        _C._count_interposer(-1)

    def owns(self, tensor) -> bool:
        """True if a tensor shares memory with one of the call's own."""
        return _C._storage_address(tensor) in self._own

    def made(self, tensor) -> None:
        """The function made a tensor, its own as long as it is there."""
        self._own.add(_C._storage_address(tensor))
        self._made.append(tensor)


def _are_functorch_transforms_active() -> bool:
    """True if this thread is within a transform of `func`."""
    return bool(_calls.open)


def is_forward() -> bool:
    """True if this thread is within a transform in the function's direction."""
    return any(call.forward for call in _calls.open)


def note_made(tensor) -> None:
    """Has transforms that differentiate know that their function made a tensor
    itself, so that it may write to it.
    """
    for call in _calls.open:
        if not call.maps:
            call.made(tensor)


def note_applied(cls, args: tuple, result) -> None:
    """Has a `vmap` know that its function called a Function that has its own.

    RuntimeError for a class that asks for a rule to be made, too.
    """
    call = _calls.open[-1] if _calls.open else None
    if call is not None and call.maps:
        check_one_rule(cls)
        if len(call.applied) < 2:  # more are of no interest
            call.applied.append((cls, args, result))


def check_one_rule(cls) -> None:
    """RuntimeError for a Function that has a `vmap` and wants one made."""
    if cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both "
            "generate_vmap_rule=True and an overridden vmap staticmethod. "
            "Please set generate_vmap_rule=False or delete the overridden "
            "vmap staticmethod to avoid ambiguity. For more details, please "
            "see https://pytorch.org/docs/main/notes/extending.func.html"
        )


def applied() -> list[tuple]:
    """Returns what the innermost transform was told by `note_applied`."""
    return _calls.open[-1].applied if _calls.open else []


def check_statistics(count, *running) -> None:
    """Before running statistics of a layer change: RuntimeError where that
    would happen once for each slice (of `vmap`), or to a tensor that a function
    which is differentiated captured (`count`, if there is one).
    """
    for call in reversed(_calls.open):
        if call.maps and not all(map(call.owns, running)):
            raise RuntimeError(_STATISTICS)
        if not call.maps and count is not None and not call.owns(count):
            raise RuntimeError(_CAPTURED)
