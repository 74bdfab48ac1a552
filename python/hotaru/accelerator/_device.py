"""Which device an argument means."""

from __future__ import annotations

from .. import _C, cuda
from ..cuda.devices import no_index


def current_device_index() -> int:
    """Index of this thread's current device; 0 where that is the CPU."""
    return cuda.current_device() if cuda.is_available() else 0


def needs_device() -> bool:
    """True; RuntimeError where there is none."""
    if not cuda.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return True


def index_of(device, optional: bool = True) -> int:
    """The index that an argument means, which may be of any form."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = _C.device(device)
    if isinstance(device, _C.device):
        if not cuda.is_available():
            raise RuntimeError("Accelerator expected")
        if device.type != "cuda":
            raise ValueError(
                f"{device.type} doesn't match the current accelerator cuda."
            )
        if device.index is not None:
            return device.index
    elif device is not None:
        optional = False
    if not optional:
        raise no_index(device)
    return current_device_index()
