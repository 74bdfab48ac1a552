"""The error of whatever needs an XPU device."""

from __future__ import annotations

from typing import NoReturn


def needs_device() -> NoReturn:
    """Raises PyTorch's error of builds without XPU."""
    raise AssertionError(
        "Torch not compiled with XPU enabled (hotaru has no XPU devices: "
        'give "cpu" or "cuda", and ask torch.xpu.is_available() before)'
    )


class OfDevices:
    """Objects that only an XPU device has."""

    def __new__(cls, *args, **kwargs):
        raise RuntimeError(
            f"Tried to instantiate dummy base class {cls.__name__} "
            "(hotaru has no XPU devices)"
        )
