"""Failures of `compile`, where a call cannot become a graph or a program."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from . import _state, _where


def failure_of(
    model,
    fullgraph: bool,
    lacks: str,
    *,
    passes: Callable[[Exception], bool],
    most: int = 1,
) -> Failure:
    """Makes what is given the error: it raises it, or else the call runs as it
    is, with a warning.

    Args:
        model: the function or module, named in warnings.
        fullgraph: every error is raised.
        lacks: what the call runs without.
        passes: which errors are of what cannot be captured, not of the
            function itself.
        most: how many warnings there are, each with another text.
    """
    name = getattr(model, "__name__", type(model).__name__)
    return Failure(name, fullgraph, lacks, passes, most)


class Failure:
    """See :func:`failure_of`."""

    def __init__(self, name, fullgraph, lacks, passes, most) -> None:
        self._text = f"compile: {name} runs without {lacks}: "
        self._fullgraph = fullgraph
        self._passes = passes
        self._most = most
        self._warned: set[str] = set()

    def passes(self, error: Exception) -> bool:
        """Tells whether it is for this object to decide what becomes of an
        error now, and not for a plain call, which may raise it, too.
        """
        return self._fullgraph or self._passes(error)

    def __call__(self, error: Exception) -> None:
        if self._fullgraph:
            raise error
        text = f"{self._text}{error}"
        if (
            not isinstance(error, _state.StateError)
            and text not in self._warned
            and len(self._warned) < self._most
        ):
            self._warned.add(text)
            warnings.warn(text, stacklevel=_where.user_level())
