"""What `compile` does where a call cannot become a graph or a program."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from . import _state


def failure_of(
    model,
    fullgraph: bool,
    lacks: str,
    *,
    passes: Callable[[Exception], bool],
    most: int = 1,
    stacklevel: int = 6,
) -> Callable[[Exception], None]:
    """A function that is given the error: it raises it, or else the call runs
    as it is, with a warning.

    Args:
        model: the function or module, named in warnings.
        fullgraph: every error is raised.
        lacks: what the call runs without.
        passes: which errors are let pass.
        most: how many warnings there are, each with another text.
        stacklevel: of the warning, so that it names the caller's line.
    """
    name = getattr(model, "__name__", type(model).__name__)
    warned: set[str] = set()

    def on_failure(error: Exception) -> None:
        state = isinstance(error, _state.StateError)
        if fullgraph or not (state or passes(error)):
            raise error
        text = f"compile: {name} runs without {lacks}: {error}"
        if not state and text not in warned and len(warned) < most:
            warned.add(text)
            warnings.warn(text, stacklevel=stacklevel)

    return on_failure
