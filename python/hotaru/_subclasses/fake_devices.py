"""Which device the result of an operator of fake tensors pretends to have."""

from __future__ import annotations

import functools

from .. import _C
from .._function_schema.signatures import signature

# The result is on the device of the first tensor, wherever the others are.
_OF_FIRST = frozenset(
    [
        "copy_",
        "copy",
        "resize_as_",
        "index",
        "index_put",
        "index_put_",
        "slice_scatter",
        "select_scatter",
        "set_",
        "embedding_bag",
    ]
)
_MIXED = (
    "Unhandled FakeTensor Device Propagation for {}, found two different devices {}, {}"
)


def normalized(device) -> _C.device:
    """The device with its number: of CUDA the current one, or the first."""
    device = _C.device(device)
    if device.type != "cuda" or device.index is not None:
        return device
    from .. import cuda

    index = cuda.current_device() if cuda.is_initialized() else 0
    return _C.device("cuda", index)


@functools.cache
def place_of(func) -> int | None:
    """Where the argument `device` of an overload is, if it has one."""
    if not hasattr(func, "_text"):
        return None
    names = list(signature(func._text).parameters)
    return names.index("device") if "device" in names else None


def asked(func, args: tuple, kwargs: dict):
    """The device that a call names, and the call with the meta device there.

    None where it names none.
    """
    place = place_of(func)
    if place is None:
        return None, args, kwargs
    meta = _C.device("meta")
    if place < len(args):
        device = args[place]
        if device is None:
            return None, args, kwargs
        return device, (*args[:place], meta, *args[place + 1 :]), kwargs
    device = kwargs.get("device")
    if device is None:
        return None, args, kwargs
    return device, args, {**kwargs, "device": meta}


def common(func, fakes: list) -> _C.device | None:
    """The device of the arguments; of numbers on the CPU the others'.

    RuntimeError where there are two.
    """
    packet = getattr(func, "overloadpacket", None)
    name = getattr(packet, "__name__", "")
    if fakes and name in _OF_FIRST:
        return fakes[0].device
    if name == "to" and len(fakes) == 2:
        return fakes[1].device
    found, is_number = None, False
    for fake in fakes:
        device = fake.device
        number = device.type == "cpu" and fake.dim() == 0
        if found is None or (is_number and device != found):
            found, is_number = device, number
        elif device == found:
            is_number = is_number and number
        elif not number:
            raise RuntimeError(_MIXED.format(func, found, device))
    return found
