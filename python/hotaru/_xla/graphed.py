"""Calls of a function by way of XLA."""

from __future__ import annotations

from ..graphs import _state
from ..graphs._graphed import Graphed
from .client import check_installed
from .program import Program
from .values import NotWritten


class XlaGraphed(Graphed):
    """As its base, with an executable of XLA for each kind of call."""

    def __init__(self, *args, **kwargs) -> None:
        check_installed()
        super().__init__(*args, **kwargs)

    def _made(self, reach, form, leaves, aliases: tuple, static: bool):
        return Program(self.function, reach, form, leaves, _state.guarded(reach))


def is_refusal(error: Exception) -> bool:
    """True if it means that a call cannot be written, and runs as it is."""
    return isinstance(error, (NotWritten, TypeError))
