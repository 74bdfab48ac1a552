# ruff: noqa: N999  (its name in PyTorch)
"""torch._VF: operators past what the package has in their place."""

from __future__ import annotations

from ._C import ops
from ._own_names import no_attribute


def __getattr__(name: str):
    # Not getattr: that makes a namespace of any other name.
    if name not in vars(ops):
        raise no_attribute("torch._VF", name)
    return vars(ops)[name]
