"""Operators that take functions, by their names in `torch.ops.higher_order`."""

from __future__ import annotations

from .. import _C
from .._functions.settings import traces
from .._ops import namespace
from ..utils import _pytree as pytree

__all__ = ["HigherOrderOperator"]

_space = namespace("higher_order")


class HigherOrderOperator:
    """An operator that takes functions, and tensors in flat lists.

    Args:
        name: below `torch.ops.higher_order`.
        function: runs it.
        is_written: whether a program that is being exported writes it down,
            with a graph of each function, rather than what the functions do.
    """

    namespace = "higher_order"

    def __init__(self, name: str, function, is_written: bool = False) -> None:
        self.__name__ = name
        self.__module__ = "torch.ops.higher_order"
        self._function = function
        self._is_written = is_written
        setattr(_space, name, self)

    def name(self) -> str:
        """Its name."""
        return self.__name__

    def __call__(self, /, *args, **kwargs):
        relevant = tuple(pytree.tree_leaves((args, kwargs)))
        if _C._overridden(*relevant):
            return _C._handle_torch_function(self, relevant, args, kwargs)
        if traces and self._is_written:
            return traces[-1].higher_order(self.__name__, *args, **kwargs)
        return self._function(*args, **kwargs)

    def __str__(self) -> str:
        return self.__name__

    __repr__ = __str__

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _named, (self.__name__,)


def _named(name: str) -> HigherOrderOperator:
    """Finds the operator that pickles refer to."""
    return getattr(_space, name)
