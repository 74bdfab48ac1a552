"""Modules without initial values."""

from __future__ import annotations

import inspect

from ..modules import Module


def skip_init(module_cls, *args, **kwargs) -> Module:
    """`module_cls(*args, **kwargs)` whose parameters and buffers have memory
    but no values yet; nothing is drawn.

    The class has to take a `device`, and hand it to all that it makes.

    Raises:
        RuntimeError: no module, or a class without `device`.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
