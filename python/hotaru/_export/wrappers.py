"""Marks of what an export is to record."""

from __future__ import annotations

import functools

__all__ = ["mark_subclass_constructor_exportable_experimental"]


def mark_subclass_constructor_exportable_experimental(constructor_subclass):
    """Decorates `__init__` of a tensor subclass, which an export records.

    Nothing is exported here, so it runs as it is.

    Raises:
        RuntimeError: another function.
    """
    if getattr(constructor_subclass, "__name__", "") != "__init__":
        raise RuntimeError(
            "torch._export.wrappers.mark_constructor_exportable_experimental: "
            "can only be applied on __init__ of a subclass of Tensor, not on "
            f"{getattr(constructor_subclass, '__name__', constructor_subclass)}"
        )

    @functools.wraps(constructor_subclass)
    def init(*args, **kwargs) -> None:
        constructor_subclass(*args, **kwargs)

    return init
