# ruff: noqa: N999  (its name in PyTorch)
"""torch._VF: operators past what the package has in their place."""

from __future__ import annotations

from ._C import ops


def __getattr__(name: str):
    found = vars(ops).get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
