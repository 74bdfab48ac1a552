"""torch.classes: C++ classes by namespace, `torch.classes.space.Name`.

PyTorch has there what libraries register with `torch::class_`. Such libraries
are linked to PyTorch's own and do not load here, so no class is registered, and
asking for one raises PyTorch's error. Classes compiled from Python are those of
`torch.jit.script`.
"""

from __future__ import annotations

import os

from ._library import shared as _shared

__all__ = ["load_library", "loaded_libraries"]

loaded_libraries = _shared.loaded_libraries


def load_library(path: str | os.PathLike) -> None:
    """Loads a shared library, as `torch.ops.load_library` does.

    Raises:
        OSError: it cannot be loaded; the cause says why.
    """
    _shared.load_library(path)


class _ClassNamespace:
    """The classes of one namespace."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, attr: str):
        if attr.startswith("__"):
            raise AttributeError(f"no attribute {attr!r}")
        raise RuntimeError(
            f"Tried to instantiate class '{self.name}.{attr}', but it does "
            "not exist! Ensure that it is registered via torch::class_"
        )

    def __repr__(self) -> str:
        return f"<torch.classes.{self.name}>"


def __getattr__(name: str) -> _ClassNamespace:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, _ClassNamespace(name))
