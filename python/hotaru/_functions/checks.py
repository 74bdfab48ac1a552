"""Checks that programs write into their code."""

from __future__ import annotations

from .. import _C
from .._C import Tensor

__all__ = [
    "_check",
    "_check_index",
    "_check_is_size",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_tensor_all_with",
    "_check_type",
    "_check_value",
    "_check_with",
]


def _raise(error, message) -> None:
    if message is None:
        raise error(
            "Expected cond to be True, but got False. "
            "(Could this error message be improved? "
            "If so, please report an enhancement request to PyTorch.)"
        )
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error(str(message()))


def _check_with(error_type, cond, message=None) -> None:
    """Raises `error_type` with the text that message() gives unless `cond`.

    TypeError for a condition that is no bool, or a message that cannot be
    called.
    """
    if isinstance(cond, Tensor):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use "
            "torch._check_tensor_all() to assert that all elements are true."
        )
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        _raise(error_type, message)


def _check(cond, message=None) -> None:
    """RuntimeError unless `cond`; see `_check_with`."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond, message=None) -> None:
    """IndexError unless `cond`; see `_check_with`."""
    _check_with(IndexError, cond, message)


def _check_value(cond, message=None) -> None:
    """ValueError unless `cond`; see `_check_with`."""
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None) -> None:
    """TypeError unless `cond`; see `_check_with`."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None) -> None:
    """NotImplementedError unless `cond`; see `_check_with`."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i, message=None, *, max=None) -> None:
    """RuntimeError unless `i` can be a size: neither negative nor above max."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type, cond, message=None) -> None:
    """Raises unless all elements of a tensor of bools are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not _C.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    if not cond.all().item():
        _raise(error_type, message)


def _check_tensor_all(cond, message=None) -> None:
    """RuntimeError unless all elements of a tensor of bools are true."""
    _check_tensor_all_with(RuntimeError, cond, message)
