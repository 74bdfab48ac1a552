# ruff: noqa: N999  (its name in PyTorch)
"""torch._VF: operators past what the package has in their place."""

from __future__ import annotations

from ._C import ops


def __getattr__(name: str):
    # Not getattr: that makes a namespace of any other name.
    if name not in vars(ops):
        raise AttributeError(f"module 'torch._VF' has no attribute '{name}'")
    return vars(ops)[name]
