# ruff: noqa: N999  (its name in PyTorch)
"""torch._VF: operators past what the package has in their place."""

from __future__ import annotations

from ._C import ops


def __getattr__(name: str):
    return getattr(ops, name)
