"""Calls of a function by way of XLA."""

from __future__ import annotations

import warnings

from ..graphs import _state
from ..graphs._callables import Graphed
from .client import check_installed
from .program import Program
from .values import NotWritten


class XlaGraphed(Graphed):
    """As its base, with an executable of XLA for each kind of call."""

    def __init__(self, *args, **kwargs) -> None:
        check_installed()
        super().__init__(*args, **kwargs)

    def _made(self, reach, form, leaves, aliases: tuple, static: bool):
        return Program(
            self.function, reach, form, leaves, _state.guarded(reach)
        )


def failure_of(model, fullgraph: bool):
    """What is done where a call cannot be written."""
    name = getattr(model, "__name__", type(model).__name__)
    warned = False

    def on_failure(error: Exception) -> None:
        nonlocal warned
        if fullgraph:
            raise error
        if not isinstance(error, (NotWritten, _state.StateError, TypeError)):
            raise error
        if not warned and not isinstance(error, _state.StateError):
            warned = True
            warnings.warn(
                f"compile: {name} runs without XLA: {error}", stacklevel=6
            )

    return on_failure
