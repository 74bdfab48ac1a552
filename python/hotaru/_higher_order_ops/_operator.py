"""Operators that take functions, by their names in `torch.ops.higher_order`."""

from __future__ import annotations

from .. import _C
from .._functions.settings import traces
from ..utils import _pytree as pytree
from . import _base
from ._base import _space

__all__ = ["HigherOrderOperator"]


class HigherOrderOperator(_base.HigherOrderOperator):
    """An operator that takes functions, and tensors in flat lists.

    Args:
        name: below `torch.ops.higher_order`.
        function: runs it.
        is_written: whether a program that is being exported writes it down,
            with a graph of each function, rather than what the functions do.
    """

    def __init__(self, name: str, function, is_written: bool = False) -> None:
        super().__init__(name)
        self._function = function
        self._is_written = is_written

    def __call__(self, /, *args, **kwargs):
        relevant = tuple(pytree.tree_leaves((args, kwargs)))
        if _C._overridden(*relevant):
            return _C._handle_torch_function(self, relevant, args, kwargs)
        if traces and self._is_written:
            return traces[-1].higher_order(self.__name__, *args, **kwargs)
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return self.__name__

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _named, (self.__name__,)


def _named(name: str) -> HigherOrderOperator:
    """Finds the operator that pickles refer to."""
    return getattr(_space, name)
