"""Operators defined in Python under autocast."""

from __future__ import annotations

from collections.abc import Callable

from .. import Tensor
from ..amp import autocast
from ..amp._thread import is_autocast_enabled
from .table import Operator


def dtype_for(operator: Operator, device_type: str):
    """Returns what arguments are cast to; None where autocast is off for the
    device, or the operator asked for no cast.
    """
    dtype = operator.autocast.get(device_type)
    return dtype if dtype and is_autocast_enabled(device_type) else None


def run(call: Callable, args: tuple, dtype, device_type: str):
    """Calls with floating point tensors of the device cast, without autocast.

    Tensors of float64 stay, as in operators of autocast's own lists.
    """

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
        return call(tuple(map(cast, args)))
