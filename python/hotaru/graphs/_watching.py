"""Callables that know what their function reads, and what it is like by now."""

from __future__ import annotations

import functools
import types
from collections import OrderedDict
from collections.abc import Callable

from .. import _C, Tensor
from ..nn import Module
from . import _stance, _state
from ._surroundings.reach import Reach


class Watching:
    """Base of graphs and of engines' programs for kinds of calls.

    Subclasses have `_prefix` of the names of methods, more `_taken`, the names
    of what the constructor takes, and `_learn`.
    """

    _prefix: str
    _taken = ("function", "_dynamic", "_cache_size", "_on_failure", "_root")

    def __init__(
        self,
        function: Callable,
        *,
        dynamic: bool,
        cache_size: int,
        on_failure: Callable | None = None,
        root: Module | None = None,
    ) -> None:
        if cache_size < 1:
            raise ValueError(f"cache_size must be positive, got {cache_size}")
        self.function = function
        self._dynamic = dynamic
        self._cache_size = cache_size
        self._on_failure = on_failure
        self._root = root
        self._begin()

    def _begin(self) -> None:
        self._forget()

    def _forget(self) -> None:
        """Nothing is known yet."""
        self._reach: Reach | None = None
        self._guarded: list[Tensor] = []
        self._changes = -1
        # Graphs or programs by kind, and how many in a row were of no use.
        self._cache: OrderedDict[tuple, object] = OrderedDict()
        self._restless = 0
        _stance.everyone.add(self)
        self._forget_last()

    def _forget_last(self) -> None:
        self._last = None

    def __getstate__(self) -> dict:
        # Copies and pickles find out for themselves.
        return {name: self.__dict__[name] for name in self._taken}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._begin()

    def __get__(self, owner, kind=None):
        """A decorated method: of each object one of its own."""
        if owner is None:
            return self
        known = vars(owner)
        name = f"{self._prefix}{self.__name__}"
        bound = known.get(name)
        if bound is None:
            bound = type(self).__new__(type(self))
            bound.__setstate__(self.__getstate__())
            bound.function = types.MethodType(self.function, owner)
            known[name] = functools.update_wrapper(bound, self.function)
        return bound

    def _knows(self) -> bool:
        """True while what the function can read is as it was."""
        known = self._reach
        return (
            known is not None
            and self._changes == _C._module_changes()
            and known.plain
            and known.around.unchanged()
        )

    def _look_around(self) -> None:
        """Learns what the function can read, and what it is like by now."""
        if self._knows():
            return
        changes = _C._module_changes()
        root = self.function if self._root is None else self._root
        # Hooks of a module that is changed in place run outside of its graph.
        self._reach = Reach(root, own_hooks=self.function is root)
        self._guarded = _state.guarded(self._reach)
        self._learn(self._reach)
        self._changes = changes

    def _learn(self, reach: Reach) -> None:
        raise NotImplementedError
