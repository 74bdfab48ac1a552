"""Forward-mode differentiation with dual numbers.

Inside of a `dual_level`, `make_dual(x, v)` is x with a tangent v; what
operators make of it carries the Jacobian-vector product, which `unpack_dual`
takes out. Every operator whose gradient can be differentiated passes tangents
on.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import _C, Tensor
from .._extension.grad_mode import _Mode

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_current_level = -1

_is_fwd_grad_enabled = _C._is_fwd_grad_enabled


class UnpackedDualTensor(NamedTuple):
    """The two parts of a dual tensor; no tangent is None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Opens the level in which tensors carry tangents; returns its number.

    One can be open at a time, for all threads. RuntimeError if one is.
    """
    global _current_level
    _current_level = _C._enter_dual_level()
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """Closes the level; every tangent is gone.

    RuntimeError where `level` is not the one that is open.
    """
    global _current_level
    if level is None:
        level = _current_level
    if level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one "
            "that was created. This is not supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    _C._exit_dual_level(level=level)
    _current_level = level - 1


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """`tensor` (as a view of it) with a tangent of the same sizes.

    Gradients pass through to both. The tangent is the one given, or a copy
    where that looks into less memory. ValueError for dtypes that have no
    gradients, RuntimeError outside of a level, for sizes that differ and for
    tensors that are dual already, NotImplementedError for sparse and nested
    ones, most of whose operators would lose it.
    """
    if level is None:
        level = _current_level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level "
            "exists, make sure to enter_dual_level() first."
        )
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not (given.is_floating_point() or given.is_complex()):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: "
                f"{given.dtype}"
            )
    for given in (tensor, tangent):
        if given.layout is not _C.strided or given.is_nested:
            raise _lost("nested" if given.is_nested else "sparse")
    if _C._answering_class(tensor) is _C._answering_class(tangent) is Tensor:
        tangent = _laid_out(tensor, tangent)
    elif _C._dispatches(tensor):
        tensor = _C.ops.alias(tensor)  # which its class is asked for
    return _C._make_dual(tensor, tangent, level)


def _laid_out(tensor: Tensor, tangent: Tensor) -> Tensor:
    """A tangent for all memory of `tensor`, zero where it does not look, if
    its own memory is smaller: other views of it will want theirs.
    """
    size = tensor.untyped_storage().nbytes()
    if (
        size <= tangent.untyped_storage().nbytes()
        or tensor.shape != tangent.shape
        or tensor.dtype != tangent.dtype
        or tensor.numel() == 0
        or 0 in tensor.stride()
    ):
        return tangent
    copy = tangent.new_zeros(size // tensor.element_size()).as_strided(
        tensor.size(), tensor.stride(), tensor.storage_offset()
    )
    return copy.copy_(tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a dual tensor, as a view of it, and its tangent or None.

    Gradients pass through both.
    """
    if level is None:
        level = _current_level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    return UnpackedDualTensor(*_C._unpack_dual(tensor))


class dual_level(_Mode):  # noqa: N801
    """The level of dual tensors as a context, and as a decorator."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception) -> None:
        exit_dual_level()


class _set_fwd_grad_enabled(_Mode):  # noqa: N801
    """Sets if this thread passes tangents on; at once, and until the exit."""

    def __new__(cls, mode: bool):
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._previous = _is_fwd_grad_enabled()
        _C._set_fwd_grad_enabled(mode)

    def clone(self):
        return type(self)(self._mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception) -> None:
        _C._set_fwd_grad_enabled(self._previous)


def refuse_tangents(layout: str, *tensors: Tensor) -> None:
    """NotImplementedError where one of the tensors carries a tangent, which
    tensors of this layout ("sparse", "nested") would lose.
    """
    if _current_level >= 0 and any(map(_C._carries_tangent, tensors)):
        raise _lost(layout)


def _lost(layout: str) -> NotImplementedError:
    return NotImplementedError(
        f"forward mode does not go through {layout} tensors: their "
        "tangents would be lost. Use reverse mode (torch.autograd.grad, "
        "torch.func.vjp) for this part"
    )
