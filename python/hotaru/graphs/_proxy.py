"""The module that stands for another one, whose calls run as graphs."""

from __future__ import annotations

from collections.abc import Callable, Sized

from ..nn import Module

# Its own attributes; all others are the module's.
_OWN = {"_orig_mod", "graphed", "forward", "__dict__"}


class OptimizedModule(Module):
    """A module whose calls run as graphs; all else is the original's.

    Hooks that are registered here run around the graphs, and `forward`, once it
    is bound here, in place of them.
    """

    # Hooks of all modules run for the original alone.
    _hooked = False

    def __init__(self, module: Module, graphed: Callable) -> None:
        super().__init__()
        del self.__dict__["training"]
        self._orig_mod = module
        self.graphed = graphed

    def __call__(self, *args, **kwargs):
        if self._hooked:
            return super().__call__(*args, **kwargs)
        return self.graphed(*args, **kwargs)

    def forward(self, *args, **kwargs):
        """The original's result, by way of its graphs."""
        return self.graphed(*args, **kwargs)

    @property
    def training(self) -> bool:
        """The original's mode."""
        return self._orig_mod.training

    @training.setter
    def training(self, mode: bool) -> None:
        self._orig_mod.training = mode

    def __getattr__(self, name: str):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)

    def __setattr__(self, name: str, value) -> None:
        if not self._is_own(name):
            setattr(self._orig_mod, name, value)
            return
        super().__setattr__(name, value)
        if name == "forward":
            super().__setattr__("_hooked", True)

    def __delattr__(self, name: str) -> None:
        if self._is_own(name):
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def _is_own(self, name: str) -> bool:
        return name in _OWN or hasattr(type(self), name)

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._orig_mod)})

    def __len__(self) -> int:
        if isinstance(self._orig_mod, Sized):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __bool__(self) -> bool:
        return bool(self._orig_mod)
