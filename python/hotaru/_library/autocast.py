"""Operators defined in Python under autocast."""

from __future__ import annotations

from collections.abc import Callable

from .. import Tensor
from .table import Operator


def kernel(operator: Operator, device_type: str) -> Callable | None:
    """A call of the operator with its floating point arguments cast; None
    where autocast is off for the device, or the operator asked for no cast.
    """
    from ..amp import autocast, is_autocast_enabled

    dtype = operator.autocast.get(device_type)
    if dtype is None or not is_autocast_enabled(device_type):
        return None

    def run(args: tuple, kwargs: dict):
        from . import dispatch

        def cast(value):
            if isinstance(value, list):
                return [cast(v) for v in value]
            eligible = (
                isinstance(value, Tensor)
                and value.is_floating_point()
                and value.device.type == device_type
                and value.element_size() != 8
            )
            return value.to(dtype) if eligible else value

        with autocast(device_type, enabled=False):
            return dispatch.run(operator, tuple(map(cast, args)), kwargs)

    return run
